// Answers for routes that the server does not have yet, so that their pages
// can be looked at. A route that exists is never answered from here.

const at = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString();

export const fixtures = {
  "GET /v1/github/app": () => ({ configured: true, apps: [{ id: "a1", name: "svc-northwind", owner: "northwind", install_url: "https://github.com/apps/svc-northwind/installations/new" }], installations: [{ id: "i1", account: "northwind", repos: 4, created_at: at(30000) }] }),
  "GET /v1/billing": () => ({ plan: "self_hosted", status: "active", available: false, seats: null, current_period_end: null }),
};

/** Answers missing routes in a browser context from the fixtures. */
export async function useFixtures(context) {
  for (const [route, answer] of Object.entries(fixtures)) {
    const [method, path] = route.split(" ");
    await context.route((url) => url.pathname === path, async (route) => {
      if (route.request().method() !== method) return route.continue();
      const real = await route.fetch();
      if (real.status() !== 404 || !(await real.text()).includes("no such route")) return route.fulfill({ response: real });
      return route.fulfill({ status: 200, contentType: "application/json", body: JSON.stringify(answer()) });
    });
  }
}
