// Only these tools concern us; for all others nothing runs at all.
const svcTools = new Set(["editor", "run_commands", "write_to_file", "replace_in_file", "execute_command", "apply_patch"])

const send = (event, ctx, payload, ms) => {
  const { conversationId, agentId } = ctx.snapshot ?? {}
  const cwd = process.cwd()
  return ask("cline", event, { snapshot: { conversationId, agentId }, cwd, ...payload }, cwd, ms)
}

const call = ({ toolCall }) => ({
  toolCallId: toolCall.toolCallId,
  toolName: toolCall.toolName,
  input: toolCall.input,
  metadata: toolCall.metadata,
})

export default {
  name: "svc",
  manifest: { capabilities: ["hooks"] },
  hooks: {
    async beforeRun(ctx) {
      await send("beforeRun", ctx, {})
    },
    async beforeTool(ctx) {
      if (ctx.toolCall?.toolName === "read_files") return void (await send("beforeTool", ctx, { toolCall: call(ctx) }))
      if (!svcTools.has(ctx.toolCall?.toolName)) return
      const { block, reason, context } = await send("beforeTool", ctx, { toolCall: call(ctx) })
      if (block) return { skip: true, reason }
      if (context) return { appendContext: context }
    },
    async afterTool(ctx) {
      if (!svcTools.has(ctx.toolCall?.toolName)) return
      const { context } = await send("afterTool", ctx, { toolCall: call(ctx), result: { isError: ctx.result?.isError } }, 10000)
      if (context) return { appendContext: context }
    },
    async afterRun(ctx) {
      await send("afterRun", ctx, { result: { outputText: ctx.result?.outputText } })
    },
  },
}
