import type { Json, RequestRecord } from '../../base/profile.ts'

/** A body as it may have been sent: the fields of a form, or text. */
export type SentBody =
  { form: 'urlencoded' | 'multipart'; fields: Record<string, Json> } | { form: 'text'; text: string }

/** The body of a request, as far as it is recorded; null if there was none, or if it was binary. */
export function sentBody({ body, bodySize, contentType }: RequestRecord): SentBody | null {
  if (body === null || isBinary(body, bodySize)) return null
  if (typeof body === 'object' && !Array.isArray(body)) {
    if (contentType?.startsWith('multipart/') === true) return { form: 'multipart', fields: body }
    if (contentType?.startsWith('application/x-www-form-urlencoded') === true) {
      return { form: 'urlencoded', fields: body }
    }
  }
  return { form: 'text', text: sentText(body) }
}

/** Names and values as pairs: several values of one name are several pairs. */
export function sentPairs(values: Readonly<Record<string, Json>>): Array<[name: string, value: string]> {
  return Object.entries(values).flatMap(([name, value]) =>
    [value].flat().map((each): [string, string] => [name, sentText(each)]),
  )
}

/** A recorded value as the text that may have been sent. */
export function sentText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Whether a body is described, since it was no text: [312 bytes]. */
function isBinary(body: Json, size: number | null): boolean {
  return typeof body === 'string' && Number(/^\[(\d+) bytes\]$/.exec(body)?.[1]) === size
}
