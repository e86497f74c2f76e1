/** Encodes text for a URL's path or query; a lone surrogate becomes a replacement character. */
export function urlPart(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'))
}

/** The URL of a profile, with a panel open if one is given. */
export function profileUrl(base: string, token: string, panel?: string): string {
  return `${base}/${urlPart(token)}${panel === undefined ? '' : `?panel=${urlPart(panel)}`}`
}

/** Where a profile can be downloaded as something else. */
export function exportUrl(base: string, token: string, name: 'curl' | 'file' | 'har'): string {
  return `${base}/${urlPart(token)}/${name}`
}

/** Where a request is sent again, by POST. */
export function replayUrl(base: string, token: string): string {
  return `${base}/${urlPart(token)}/replay`
}

/** Where the samples of a request are, and by POST, where the next request to its route is armed. */
export function samplesUrl(base: string, token: string): string {
  return `${base}/${urlPart(token)}/samples`
}

/** The URL of the comparison of two requests. */
export function comparisonUrl(base: string, a: string, b: string): string {
  return `${base}/compare/${urlPart(a)}/${urlPart(b)}`
}

/** The URL of the comparison of a route before a moment and since. */
export function setComparisonUrl(base: string, method: string, route: string, at: number): string {
  return `${base}/compare?method=${urlPart(method)}&route=${urlPart(route)}&at=${at}`
}
