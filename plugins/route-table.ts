import type { FastifyInstance, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { RouteTable } from '../src/http/declared-routes.ts'

declare module 'fastify' {
  interface FastifyInstance {
    routeTable: RouteTable
  }
}

/** Adds app.routeTable, which knows every route and constraint strategy registered after it. */
async function routeTable(app: FastifyInstance) {
  const table = new RouteTable()
  const { addConstraintStrategy } = app
  const noted: Array<{ route: RouteOptions; url: string }> = []

  app.addHook('onRoute', function noteRoute(route) {
    noted.push({ route, url: route.url })
  })

  app.addHook('onReady', async function fillTable() {
    // Last, because hooks may add constraints, and a prefix's "/" gets its second URL, "/prefix/", after all hooks.
    for (const { route, url } of noted) for (const each of new Set([url, route.url])) table.add({ ...route, url: each })
  })

  // Fastify has no hook for strategies.
  app.addConstraintStrategy = strategy => {
    addConstraintStrategy(strategy)
    table.addConstraintStrategy(strategy)
  }

  app.decorate('routeTable', table)
}

export default fp(routeTable, { name: 'route-table', fastify: '5.x' })
