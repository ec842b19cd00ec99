/** Puts records into the reader's downloads, one a line. */
export function download(name: string, records: unknown[]): void {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob(records.map((r) => JSON.stringify(r) + "\n"), { type: "application/x-ndjson" }));
  a.download = name;
  a.click();
  URL.revokeObjectURL(a.href);
}
