import type { ServerResponse } from 'node:http'

/** A response of HTTP/2 has no spellings: its names are in lower case. */
type Response = ServerResponse & { getRawHeaderNames?: () => string[] }

/** Sets a header. Keeps the application's spelling of its name. */
export function setHeader(response: Response, name: string, value: string | number | string[]): void {
  const spelled = response.getRawHeaderNames?.().find(each => each.toLowerCase() === name)
  response.setHeader(spelled ?? name, value)
}
