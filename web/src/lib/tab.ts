// The tab's title: what page it is, and how much waits for the reader.
let page = "svc";
let waiting = 0;
const write = (): void => {
  document.title = (waiting > 0 ? `(${waiting > 99 ? "99+" : waiting}) ` : "") + (page === "svc" ? page : `${page} · svc`);
};

export function nameTab(title: string): void {
  page = title;
  write();
}

export function countInTab(n: number): void {
  waiting = n;
  write();
}
