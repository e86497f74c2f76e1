import type { FastifyInstance, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { RouteTable } from '../src/route-table.ts'

declare module 'fastify' {
  interface FastifyInstance {
    routeTable: RouteTable
  }
}

/** Adds app.routeTable, which knows every route registered after it. */
async function routeTable (app: FastifyInstance) {
  const table = new RouteTable()

  const headed = new Set<string>()

  app.addHook('onRoute', function noteRoute ({ method, url, exposeHeadRoute }: RouteOptions) {
    // The HEAD that Fastify itself adds after a GET is declared by nobody.
    if (method === 'HEAD' && headed.has(url)) return
    if (exposeHeadRoute !== false && [method].flat().includes('GET')) headed.add(url)
    table.add(method, url)
  })

  app.decorate('routeTable', table)
}

export default fp(routeTable, { name: 'route-table', fastify: '5.x' })
