// The API as the demo uses it: as a person with a cookie, or as an agent with
// a token.
export class Client {
  constructor(url, { token, org } = {}) {
    this.url = url;
    this.token = token;
    this.org = org;
    this.cookie = "";
  }
  async call(method, path, body) {
    const headers = {};
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (this.token) headers.Authorization = `Bearer ${this.token}`;
    else Object.assign(headers, { Cookie: this.cookie, "X-Svc-CSRF": "1" }, this.org ? { "X-Svc-Org": this.org } : {});
    const res = await fetch(this.url + path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
    const set = res.headers.getSetCookie()[0];
    if (set) this.cookie = set.split(";")[0];
    const text = await res.text();
    if (!res.ok) {
      const problem = Object.assign(new Error(`${method} ${path}: ${res.status} ${text}`), { status: res.status });
      throw problem;
    }
    return text ? JSON.parse(text) : undefined;
  }
  get = (path) => this.call("GET", path);
  post = (path, body) => this.call("POST", path, body);
  put = (path, body) => this.call("PUT", path, body);
}
