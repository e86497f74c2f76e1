import { createServer } from 'node:http'
import express, { type Request, type Response } from 'express'
import { errorBody, errorHeaders, headers, language, noLicense, noRoute, types } from '../answers.ts'
import type { BenchDatabase } from '../bench-database.ts'
import { type BenchLicense, openRecords } from '../records.ts'
import { listen } from '../measurable.ts'

interface Locals {
  license: BenchLicense | null
}

/** Express. The lookup is a middleware, and unmatched paths reach the last one. */
export default async function start({ database }: { database: BenchDatabase }) {
  const { findLicense, findVisitor } = await openRecords(database)
  const app = express().disable('x-powered-by').disable('etag')

  app.use((request: Request, response: Response<unknown, Locals>, next) => {
    const license = findLicense(request.hostname)
    if (!(license instanceof Promise)) {
      response.locals.license = license
      return next()
    }
    license.then(license => {
      response.locals.license = license
      next()
    }, next)
  })
  app.get('/opening', (request, response: Response<unknown, Locals>) => {
    const { license } = response.locals
    if (license === null) answerError(request, response, noLicense(request.hostname))
    else response.set(headers).json({ site: license.name, language })
  })
  app.get('/visitor', async (request, response: Response<unknown, Locals>) => {
    const visitor = findVisitor(request.headers.cookie, request.hostname)
    response
      .set(headers)
      .json({ site: response.locals.license?.name, visitor: visitor instanceof Promise ? await visitor : visitor })
  })
  app.use((request: Request, response: Response<unknown, Locals>) => {
    answerError(request, response, noRoute(request.method, request.originalUrl))
  })
  return listen(createServer(app))
}

function answerError(request: Request, response: Response<unknown, Locals>, detail: string): void {
  const type = request.accepts(types) || 'application/problem+json'
  response
    .status(404)
    .set(errorHeaders(response.locals.license, type))
    .send(errorBody(response.locals.license, detail, type))
}
