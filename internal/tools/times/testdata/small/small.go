package small

func Double(n int) int { return 2 * n }
