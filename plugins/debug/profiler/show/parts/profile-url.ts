/** Text as part of a URL's path or query; half a character, which no URL can hold, becomes a replacement character. */
export function urlPart(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'))
}

/** Where a profile stands, one of its panels open if one is named. */
export function profileUrl(base: string, token: string, panel?: string): string {
  return `${base}/${urlPart(token)}${panel === undefined ? '' : `?panel=${urlPart(panel)}`}`
}
