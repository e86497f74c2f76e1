/**
 * The statuses of the complete responses in these bytes. Null if they contain anything else.
 * @param isHead whether the first response is to a HEAD, and so without a body
 */
export function readStatuses(bytes: string, isHead: boolean): number[] | null {
  const statuses: number[] = []
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf('\r\n\r\n', at)
    if (end === -1) return 'HTTP/1.1 '.startsWith(bytes.slice(at, at + 9)) ? statuses : null
    const head = bytes.slice(at, end)
    const status = Number(/^HTTP\/1\.1 ([1-5]\d\d) [\w' -]+(?:\r\n|$)/.exec(head)?.[1])
    if (Number.isNaN(status)) return null
    // A response to bytes that are not a request has a body, whatever the method.
    const isBare = isHead && statuses.length === 0 && !bytes.startsWith('{"type":"about:blank"', end + 4)
    const hasBody = status >= 200 && status !== 204 && status !== 304 && !isBare
    const next = hasBody ? endOfBody(bytes, end + 4, head) : end + 4
    if (next === null || next > bytes.length) return statuses
    if (status >= 200) statuses.push(status)
    at = next
  }
  return statuses
}

/** The start of the next response. Null if it is not known yet. */
function endOfBody(bytes: string, start: number, head: string): number | null {
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  if (length !== undefined) return start + Number(length)
  if (!/\r\ntransfer-encoding: chunked/i.test(head)) return bytes.length
  for (let at = start; ;) {
    const end = bytes.indexOf('\r\n', at)
    if (end === -1) return null
    const size = parseInt(bytes.slice(at, end), 16)
    at = end + 2 + size + 2
    if (size === 0) return at
  }
}

/** Counts one more of a kind. */
export function count<Kind>(counts: Map<Kind, number>, kind: Kind): void {
  counts.set(kind, (counts.get(kind) ?? 0) + 1)
}

/** How many there are of each kind, in their order. */
export function tellCounts(counts: ReadonlyMap<string | number, number>): string {
  const sorted = [...counts].sort(([one], [other]) => (one < other ? -1 : 1))
  return sorted.map(([kind, number]) => `${number} × ${kind}`).join(', ')
}
