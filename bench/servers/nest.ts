import 'reflect-metadata'
import {
  type ArgumentsHost,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  Header,
  Inject,
  Module,
  NotFoundException,
  Req,
} from '@nestjs/common'
import { APP_FILTER, APP_GUARD, NestFactory } from '@nestjs/core'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { negotiateType } from '../../src/http/negotiation.ts'
import { errorBody, errorHeaders, headers, language, noLicense, noRoute } from '../answers.ts'
import type { BenchDatabase } from '../bench-database.ts'
import { type BenchLicense, type FindLicense, type FindVisitor, openRecords } from '../records.ts'
import { keepAliveTimeout, type Measurable } from '../measurable.ts'

// Nest has no content negotiation, so it gets Portico's, which caches its results.
const negotiate = negotiateType(['application/problem+json', 'application/json', 'text/html', 'text/plain'])

const visitors = Symbol('visitors')

/**
 * Nest on Fastify. The lookup is a guard, and a filter answers errors. Decorators are called as functions, because
 * TypeScript's erasable syntax has none.
 */
export default async function start({ database }: { database: BenchDatabase }): Promise<Measurable> {
  const { findLicense, findVisitor } = await openRecords(database)
  class AppModule {}
  Module({
    controllers: [SiteController],
    providers: [
      { provide: visitors, useValue: findVisitor },
      { provide: APP_GUARD, useFactory: () => new LicenseGuard(findLicense) },
      { provide: APP_FILTER, useFactory: () => new ProblemFilter(findLicense) },
    ],
  })(AppModule)
  const app = await NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter({ keepAliveTimeout }), {
    logger: false,
  })
  await app.listen(0, '127.0.0.1')
  return { port: Number(new URL(await app.getUrl()).port), close: () => app.close() }
}

class LicenseGuard implements CanActivate {
  readonly #find: FindLicense

  constructor(find: FindLicense) {
    this.#find = find
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>()
    const license = this.#find(request.hostname)
    return license instanceof Promise
      ? license.then(license => this.#let(request, license))
      : this.#let(request, license)
  }

  #let(request: FastifyRequest, license: BenchLicense | null): true {
    if (license === null) throw new NotFoundException(noLicense(request.hostname))
    request.license = license
    return true
  }
}

class SiteController {
  readonly #findVisitor: FindVisitor

  constructor(findVisitor: FindVisitor) {
    this.#findVisitor = findVisitor
  }

  showOpening(request: FastifyRequest) {
    return { site: request.license?.name, language }
  }

  async showVisitor(request: FastifyRequest) {
    const visitor = this.#findVisitor(request.headers.cookie, request.hostname)
    return { site: request.license?.name, visitor: visitor instanceof Promise ? await visitor : visitor }
  }
}

class ProblemFilter implements ExceptionFilter<NotFoundException> {
  readonly #find: FindLicense

  constructor(find: FindLicense) {
    this.#find = find
  }

  async catch(error: NotFoundException, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<FastifyRequest>()
    const type = negotiate(request.headers.accept)
    // Looked up again, because guards do not run if no route matches.
    const license = await this.#find(request.hostname)
    const isUnmatched = request.url !== '/opening'
    const detail = isUnmatched ? noRoute(request.method, request.url) : error.message
    host
      .switchToHttp()
      .getResponse<FastifyReply>()
      .code(404)
      .headers(errorHeaders(license, type))
      .send(errorBody(license, detail, type))
  }
}

Controller()(SiteController)
Inject(visitors)(SiteController, undefined, 0)
for (const [name, path] of [
  ['showOpening', 'opening'],
  ['showVisitor', 'visitor'],
] as const) {
  const method = Object.getOwnPropertyDescriptor(SiteController.prototype, name) ?? {}
  Get(path)(SiteController.prototype, name, method)
  for (const [header, value] of Object.entries(headers)) Header(header, value)(SiteController.prototype, name, method)
  Req()(SiteController.prototype, name, 0)
}
Catch(NotFoundException)(ProblemFilter)
