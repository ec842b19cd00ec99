//go:build cgo && !lean && !apart && prebuilt

package grammar

// The same as in grammars_compiled.go, compiled before.
import _ "github.com/svc-hq/svc/internal/client/grammar/prebuilt"
