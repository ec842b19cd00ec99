// svc: tells this agent what its teammates' agents are working on.
// Written by "svc init", replaced when it runs again, removed by "svc init --remove".
import { spawn } from "node:child_process"

// ask runs "svc hook" and resolves to its answer. Whatever goes wrong, or when
// ms have passed, it resolves to {}: the agent never waits for us in vain.
function ask(tool, event, payload, cwd, ms = 2500) {
  return new Promise((resolve) => {
    let child
    let out = ""
    const finish = (answer) => {
      clearTimeout(timer)
      resolve(answer)
    }
    const timer = setTimeout(() => {
      try {
        child?.kill()
      } catch {}
      finish({})
    }, ms)
    try {
      child = spawn("svc", ["hook", "--tool", tool, "--event", event], {
        cwd,
        stdio: ["pipe", "pipe", "ignore"],
        windowsHide: true,
      })
      child.on("error", () => finish({}))
      child.stdin.on("error", () => {})
      child.stdout.on("data", (data) => {
        out += data
      })
      child.on("close", () => {
        try {
          finish(out.trim() ? JSON.parse(out) : {})
        } catch {
          finish({})
        }
      })
      child.stdin.end(JSON.stringify(payload))
    } catch {
      finish({})
    }
  })
}

