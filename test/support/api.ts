import type { FastifyInstance } from 'fastify'

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Asked {
  payload?: object | string | undefined
  headers?: Record<string, string>
  host?: string
  /** The cookie of who is signed in. An empty one for nobody. */
  cookie?: string | undefined
}

/** Sends requests to an app's API, as who has this cookie unless they say otherwise. */
export function asking(app: FastifyInstance, mine: string, site = 'museum.test') {
  return async (method: Method, path: string, { payload, headers = {}, host = site, cookie = mine }: Asked = {}) =>
    await app.inject({
      method,
      url: `/api/${path}`,
      headers: { host, ...(cookie !== '' && { cookie }), ...headers },
      ...(payload !== undefined && { payload }),
    })
}
