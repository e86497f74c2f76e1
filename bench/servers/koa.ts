import { createServer } from 'node:http'
import Koa, { type Context } from 'koa'
import { errorBody, errorHeaders, headers, language, noLicense, noRoute, types } from '../answers.ts'
import type { BenchDatabase } from '../bench-database.ts'
import { type BenchLicense, openRecords } from '../records.ts'
import { listen } from '../measurable.ts'

interface State {
  license: BenchLicense | null
}

/** Koa. The lookup and the routes are middleware, because Koa has no router. */
export default async function start({ database }: { database: BenchDatabase }) {
  const { findLicense, findVisitor } = await openRecords(database)
  const app = new Koa<State>()

  app.use(async (context, next) => {
    const license = findLicense(context.hostname)
    context.state.license = license instanceof Promise ? await license : license
    await next()
  })
  app.use(async (context, next) => {
    if (context.path !== '/opening' || context.method !== 'GET') return next()
    const { license } = context.state
    if (license === null) return answerError(context, noLicense(context.hostname), license)
    context.set(headers)
    context.body = { site: license.name, language }
  })
  app.use(async (context, next) => {
    if (context.path !== '/visitor' || context.method !== 'GET') return next()
    const visitor = findVisitor(context.headers.cookie, context.hostname)
    context.set(headers)
    context.body = { site: context.state.license?.name, visitor: visitor instanceof Promise ? await visitor : visitor }
  })
  app.use(context => {
    answerError(context, noRoute(context.method, context.url), context.state.license)
  })
  return listen(createServer(app.callback()))
}

function answerError(context: Context, detail: string, license: BenchLicense | null): void {
  const type = context.accepts(types) || 'application/problem+json'
  context.status = 404
  context.set(errorHeaders(license, type))
  context.body = errorBody(license, detail, type)
}
