// Only these tools concern us; for all others nothing runs at all.
const svcTools = new Set(["write", "edit", "multiedit", "apply_patch", "bash", "plan_exit"])
// A tool of another tool server (server_tool) may write files and tells of none.
const foreign = (tool) => tool.includes("_") && !tool.startsWith("svc_")

function svcHooks(tool, { directory, client }) {
  const parents = new Map() // sub-agent's session to the one that started it
  const starting = new Map() // session to the promise of its briefing
  const send = (event, sessionID, payload, ms) =>
    ask(tool, event, { ...payload, directory, parentID: parents.get(sessionID) }, directory, ms)

  // The event that ends a turn does not say what the agent said.
  const lastSaid = async (sessionID) => {
    try {
      const found = client.session.messages({ path: { id: sessionID } })
      const late = new Promise((resolve) => setTimeout(resolve, 500, {}))
      const { data } = await Promise.race([found, late])
      const last = data?.findLast((m) => m.info?.role === "assistant")
      return last?.parts?.filter((p) => p.type === "text").map((p) => p.text).join("\n")
    } catch {
      return undefined
    }
  }

  return {
    event: async ({ event }) => {
      const { sessionID, info } = event.properties ?? {}
      const id = sessionID ?? info?.id
      const payload = { type: event.type, properties: { sessionID: id, info: info && { directory: info.directory, version: info.version, parentID: info.parentID } } }
      if (event.type === "session.created" && id) {
        if (info?.parentID) parents.set(id, info.parentID)
        starting.set(id, send(event.type, id, payload))
        await starting.get(id)
      } else if (event.type === "session.idle" && id) {
        await send(event.type, id, { ...payload, said: await lastSaid(id) })
      } else if (event.type === "session.deleted" && id) {
        starting.delete(id)
        await send(event.type, id, payload)
      }
    },

    "chat.message": async (input, output) => {
      await starting.get(input.sessionID)
      const parts = output.parts.filter((p) => p.type === "text").map(({ type, text, synthetic }) => ({ type, text, synthetic }))
      const message = { id: output.message?.id, model: output.message?.model }
      const answer = await send("chat.message", input.sessionID, {
        input: { sessionID: input.sessionID, model: input.model },
        output: { message, parts },
      })
      if (answer.context) {
        output.parts.push({
          id: "prt_svc" + Date.now(),
          sessionID: input.sessionID,
          messageID: output.message?.id,
          type: "text",
          text: answer.context,
          synthetic: true,
        })
      }
    },

    "tool.execute.before": async (input, output) => {
      if (input.tool === "read") return void (await send("tool.execute.before", input.sessionID, { input, output: { args: output.args } }))
      if (!svcTools.has(input.tool)) return
      const answer = await send("tool.execute.before", input.sessionID, { input, output: { args: output.args } })
      if (answer.block) throw new Error(answer.reason)
    },

    "tool.execute.after": async (input, output) => {
      if (!svcTools.has(input.tool) && !foreign(input.tool)) return
      const answer = await send("tool.execute.after", input.sessionID, { input }, 10000)
      if (!answer.context) return
      if (Array.isArray(output.content)) output.content.push({ type: "text", text: answer.context }) // of a tool server
      else output.output += "\n\n" + answer.context
    },

    dispose: async () => {
      const ends = [...starting.keys()].map((id) => send("session.deleted", id, { type: "session.deleted", properties: { sessionID: id } }))
      await Promise.all(ends)
    },
  }
}

