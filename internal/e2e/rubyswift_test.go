package e2e

import (
	"strings"
	"testing"
)

// A definition of Ruby or Swift that one agent renames, or gives another
// parameter together with its caller, while another begins to call it as it was.
func TestRubyAndSwiftAreToldAsOthersAre(t *testing.T) {
	svc := program(t, "svc")
	for _, tt := range []struct{ name, file, before, renamed, reshaped, caller, fits, fitted, user, empty, uses, called string }{
		{name: "a method of a Ruby class", file: "app/models/token.rb",
			before:   "class Token\n  def self.parse(text)\n    text\n  end\nend\n",
			renamed:  "class Token\n  def self.read(text)\n    text\n  end\nend\n",
			reshaped: "class Token\n  def self.parse(text, strict)\n    text\n  end\nend\n",
			caller:   "app/services/job.rb", fits: "class Job\n  def run\n    Token.parse('a')\n  end\nend\n",
			fitted: "class Job\n  def run\n    Token.parse('a', true)\n  end\nend\n",
			user:   "app/services/login.rb", empty: "class Login\nend\n",
			uses: "class Login\n  def run(t)\n    Token.parse(t)\n  end\nend\n", called: "parse"},
		{name: "an instance method of Ruby", file: "lib/ledger.rb",
			before:   "class Ledger\n  def settle_account(id)\n    id\n  end\nend\n",
			renamed:  "class Ledger\n  def close_account(id)\n    id\n  end\nend\n",
			reshaped: "class Ledger\n  def settle_account(id, by)\n    id\n  end\nend\n",
			caller:   "lib/nightly.rb", fits: "class Nightly\n  def run(ledger)\n    ledger.settle_account(1)\n  end\nend\n",
			fitted: "class Nightly\n  def run(ledger)\n    ledger.settle_account(1, 2)\n  end\nend\n",
			user:   "lib/report.rb", empty: "class Report\nend\n",
			uses: "class Report\n  def run(ledger)\n    ledger.settle_account(3)\n  end\nend\n", called: "settle_account"},
		{name: "a function of Swift", file: "Sources/App/Helpers.swift",
			before:   "func parseToken(_ text: String) -> String { return text }\n",
			renamed:  "func readToken(_ text: String) -> String { return text }\n",
			reshaped: "func parseToken(_ text: String, strict: Bool) -> String { return text }\n",
			caller:   "Sources/App/Job.swift", fits: "struct Job {\n  func run() -> String { return parseToken(\"a\") }\n}\n",
			fitted: "struct Job {\n  func run() -> String { return parseToken(\"a\", strict: true) }\n}\n",
			user:   "Sources/App/Login.swift", empty: "struct Login {}\n",
			uses: "struct Login {\n  func run(t: String) -> String { return parseToken(t) }\n}\n", called: "parseToken"},
		{name: "a method of a Swift type", file: "Sources/Core/Ledger.swift",
			before:   "public class Ledger {\n  public func settleAccount(id: Int) -> Int { return id }\n}\n",
			renamed:  "public class Ledger {\n  public func closeAccount(id: Int) -> Int { return id }\n}\n",
			reshaped: "public class Ledger {\n  public func settleAccount(id: Int, by: String) -> Int { return id }\n}\n",
			caller:   "Sources/App/Nightly.swift", fits: "struct Nightly {\n  func run(l: Ledger) -> Int { return l.settleAccount(id: 1) }\n}\n",
			fitted: "struct Nightly {\n  func run(l: Ledger) -> Int { return l.settleAccount(id: 1, by: \"b\") }\n}\n",
			user:   "Sources/App/Report.swift", empty: "struct Report {}\n",
			uses: "struct Report {\n  func run(l: Ledger) -> Int { return l.settleAccount(id: 3) }\n}\n", called: "settleAccount"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t, t.TempDir())
			files := map[string]string{tt.file: tt.before, tt.user: tt.empty, tt.caller: tt.fits}
			olga := newCheckout(t, s, svc, "api", s.token("olga@example.com"), files)
			bob := newCheckout(t, s, svc, "api", s.token("bob@example.com"), files)
			olga.hook("SessionStart", "")
			bob.hook("SessionStart", "")
			for _, as := range []struct{ what, text, caller string }{
				{"renamed", tt.renamed, strings.ReplaceAll(tt.fits, tt.called, "other")},
				{"given another parameter", tt.reshaped, tt.fitted},
			} {
				olga.write(tt.caller, as.caller)
				olga.hook("PostToolUse", tt.caller)
				olga.write(tt.file, as.text)
				olga.hook("PostToolUse", tt.file)
				bob.hook("UserPromptSubmit", "")
				bob.write(tt.user, tt.uses)
				told := bob.hook("PostToolUse", tt.user)
				for _, want := range []string{"contract_break", tt.called, tt.user} {
					if !strings.Contains(told, want) {
						t.Errorf("%s: who begins to call it is not told of %q: %s", as.what, want, told)
					}
				}
				for _, back := range []struct {
					c          *checkout
					file, text string
				}{{olga, tt.file, tt.before}, {olga, tt.caller, tt.fits}, {bob, tt.user, tt.empty}} {
					back.c.write(back.file, back.text)
					back.c.hook("PostToolUse", back.file)
				}
			}
		})
	}
}
