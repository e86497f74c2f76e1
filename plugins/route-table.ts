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

  app.addHook('onRoute', function noteRoute ({ method, url }: RouteOptions) {
    table.add(method, url)
  })

  app.decorate('routeTable', table)
}

export default fp(routeTable, { name: 'route-table', fastify: '5.x' })
