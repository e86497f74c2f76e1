/** Encodes text for a URL's path or query; a lone surrogate becomes a replacement character. */
export function urlPart(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'))
}

/** The URL of a profile, with a panel open if one is given. */
export function profileUrl(base: string, token: string, panel?: string): string {
  return `${base}/${urlPart(token)}${panel === undefined ? '' : `?panel=${urlPart(panel)}`}`
}
