import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { accepts } from 'hono/accepts'
import { errorBody, errorHeaders, headers, language, noLicense, noRoute, types } from '../answers.ts'
import type { BenchDatabase } from '../bench-database.ts'
import { type BenchLicense, openRecords } from '../records.ts'
import { listen } from '../measurable.ts'

interface Environment {
  Variables: { license: BenchLicense | null }
}

/** Hono on Node. The lookup is a middleware that sets a variable. */
export default async function start({ database }: { database: BenchDatabase }) {
  const { findLicense, findVisitor } = await openRecords(database)
  const app = new Hono<Environment>()

  app.use(async (context, next) => {
    const license = findLicense(hostOf(context))
    context.set('license', license instanceof Promise ? await license : license)
    await next()
  })
  app.get('/opening', context => {
    const license = context.get('license')
    if (license === null) return answerError(context, noLicense(hostOf(context)))
    return context.json({ site: license.name, language }, 200, {
      ...headers,
      'content-type': 'application/json; charset=utf-8',
    })
  })
  app.get('/visitor', async context => {
    const visitor = findVisitor(context.req.header('cookie'), hostOf(context))
    const content = {
      site: context.get('license')?.name,
      visitor: visitor instanceof Promise ? await visitor : visitor,
    }
    return context.json(content, 200, { ...headers, 'content-type': 'application/json; charset=utf-8' })
  })
  app.notFound(context => answerError(context, noRoute(context.req.method, context.req.path)))
  return listen(createServer(getRequestListener(app.fetch)))
}

function hostOf(context: Context<Environment>): string {
  return (context.req.header('host') ?? '').replace(/:\d+$/, '')
}

function answerError(context: Context<Environment>, detail: string): Response {
  const type = accepts(context, { header: 'Accept', supports: types, default: 'application/problem+json' })
  return context.body(errorBody(context.get('license'), detail, type), 404, errorHeaders(context.get('license'), type))
}
