import type { FastifyInstance } from 'fastify'
import { formsIn, plainText, type SentForm } from './forms.ts'

/** Opens pages and sends forms as a browser does, as who has this cookie. */
export function browse(app: FastifyInstance, mine: string, site = 'museum.test') {
  interface How {
    cookie?: string
    host?: string
    headers?: Record<string, string>
  }

  async function open(url: string, { cookie = mine, host = site, headers = {} }: How = {}) {
    return shown(await app.inject({ url, headers: { host, cookie, accept: 'text/html', ...headers } }))
  }

  async function post(url: string, fields: URLSearchParams, { cookie = mine, host = site, headers = {} }: How = {}) {
    const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
    return shown(
      await app.inject({
        method: 'POST',
        url,
        headers: { host, cookie, accept: 'text/html', ...form, ...headers },
        payload: fields.toString(),
      }),
    )
  }

  /** The form of a page that is posted to this path, or to the page's own. */
  async function formAt(url: string, action = url.replace(/\?.*/, ''), how: How = {}): Promise<SentForm> {
    const { body } = await open(url, how)
    const form = formsIn(body)
      .filter(form => form.method === 'post' && form.action === action)
      .at(-1)
    if (form === undefined) throw new Error(`${url} has no form for ${action}: ${body}`)
    return form
  }

  /** Sends the form of a page with some fields filled in. A field of several values is a list. */
  async function fill(url: string, filled: Record<string, string | readonly string[]>, how: How = {}) {
    const { action, fields } = await formAt(url, undefined, how)
    return await post(action, filledIn(fields, filled), how)
  }

  return { open, post, formAt, fill }
}

/** Fills in fields of a form. */
export function filledIn(fields: URLSearchParams, filled: Record<string, string | readonly string[]>): URLSearchParams {
  const all = new URLSearchParams(fields)
  for (const [name, values] of Object.entries(filled)) {
    all.delete(name)
    for (const value of [values].flat()) all.append(name, value)
  }
  return all
}

function shown({ statusCode, headers, body }: { statusCode: number; headers: Record<string, unknown>; body: string }) {
  return { statusCode, headers, body, text: plainText(body), location: String(headers['location'] ?? '') }
}
