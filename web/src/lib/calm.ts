import { useRef } from "react";

/** Rows in the order they were in while somebody points at them: what moves
 * under a pointer is clicked by mistake. What is new goes to the end until then. */
export function useCalm<T>(rows: T[], keyOf: (row: T) => string, held: boolean): T[] {
  const order = useRef<string[]>([]);
  if (!held) {
    order.current = rows.map(keyOf);
    return rows;
  }
  const at = new Map(order.current.map((k, i) => [k, i]));
  const sorted = [...rows].sort((a, b) => (at.get(keyOf(a)) ?? Infinity) - (at.get(keyOf(b)) ?? Infinity) || 0);
  order.current = sorted.map(keyOf);
  return sorted;
}
