// Only these tools concern us; for all others nothing runs at all.
const svcTools = new Set(["write", "edit", "bash"])

export default function (pi) {
  let stopped = false // omp tells of the end of a turn twice

  // A handler that throws would block the tool, so nothing here may throw.
  const on = (name, handle) => {
    try {
      pi.on(name, async (event, ctx) => {
        try {
          return await handle(event, (payload, ms = 1500) => {
            const where = { cwd: ctx?.cwd, sessionId: ctx?.sessionManager?.getSessionId?.(), model: ctx?.model?.id }
            return ask("omp", name, { event: { type: name, ...payload }, ctx: where }, ctx?.cwd, ms)
          })
        } catch {
          return undefined
        }
      })
    } catch {}
  }

  on("session_start", async (_, send) => void (await send({})))
  on("before_agent_start", async (event, send) => {
    stopped = false
    const { context } = await send({ prompt: event.prompt })
    if (context) return { message: { customType: "svc", content: context, display: true } }
  })
  on("tool_call", async ({ toolName, toolCallId, input }, send) => {
    if (toolName === "read") return void (await send({ toolName, toolCallId, input }))
    if (!svcTools.has(toolName)) return
    const { block, reason } = await send({ toolName, toolCallId, input })
    if (block) return { block: true, reason }
  })
  on("tool_result", async ({ toolName, toolCallId, input, isError, content }, send) => {
    if (!svcTools.has(toolName) && !(toolName.startsWith("mcp_") && !/^mcp_+svc_/.test(toolName))) return // other servers' tools write, too
    const { context } = await send({ toolName, toolCallId, input, isError }, 10000)
    if (context) return { content: [...(content ?? []), { type: "text", text: context }] }
  })
  on("session_stop", async (event, send) => {
    stopped = true
    await send({ last_assistant_message: event.last_assistant_message, turn_id: event.turn_id })
  })
  on("agent_end", async (event, send) => {
    if (!stopped) await send({ messages: event.messages?.slice(-3) })
  })
  on("session_shutdown", async (_, send) => void (await send({})))
}
