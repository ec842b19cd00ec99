export const SvcPlugin = async (ctx) => svcHooks("opencode", ctx)
