export default { id: "svc", server: async (ctx) => svcHooks("kilo_code", ctx) }
