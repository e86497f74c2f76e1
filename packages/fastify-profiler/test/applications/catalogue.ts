/** An application that the profiler watches, with the requests that it is sent. */
export interface Application {
  name: string
  /** Below examples/, or below the folder that `generate` makes. */
  folder: string
  /** The arguments for Node that start it, besides the flag. Default: server.js. It prints its origin. */
  start?: readonly string[]
  /** The packages that it needs, unless `installer` installs them. */
  packages: readonly string[]
  /** The server that it connects to. */
  needs?: Service
  /** The arguments for Node that make the folder, or the files in it that are not ours. */
  generate?: readonly string[]
  /** Installs what the package.json in the first part of `folder` asks for. */
  installer?: 'npm' | 'pnpm'
  requests: readonly Request[]
}

export interface Request {
  path: string
  method?: string
  json?: unknown
  accept?: string
  /** Files of a multipart form, by name. */
  files?: Readonly<Record<string, number>>
  isWebSocket?: boolean
  /** Default: 200. */
  status?: number
  /** The number of queries and requests to others. Default: 0. Each is on a line that ends with "// query". */
  queries?: number
  /** Those whose line the profiler cannot find. Default: 0. */
  lost?: number
  /** The exceptions by their messages, outermost first. Each is thrown on a line that ends with "// thrown". */
  throws?: readonly string[]
  /** A span of the timeline. */
  span?: string
  /** A line of the log. */
  logs?: string
}

export type Service = 'PostgreSQL' | 'MariaDB' | 'Redis'

/** Compiles the folder that has packages of its own: Nest 11 conflicts with Nest 12, and TypeORM with ioredis 6. */
const compile = ['commonjs/node_modules/typescript/bin/tsc', '--project', 'commonjs']

export const applications: readonly Application[] = [
  {
    name: 'CommonJS with callbacks, @fastify/postgres',
    folder: 'callbacks',
    packages: ['@fastify/postgres', 'pg'],
    needs: 'PostgreSQL',
    requests: [
      { path: '/museums', queries: 1 },
      { path: '/museums/7', queries: 2 },
      { path: '/museums/x', status: 500, queries: 1 },
      { path: '/nowhere', status: 404 },
    ],
  },
  {
    name: 'fastify-cli with autoload, generated',
    folder: 'generated',
    generate: ['node_modules/fastify-cli/cli.js', 'generate', 'generated', '--integrate=false'],
    start: ['../node_modules/fastify-cli/cli.js', 'start', '--port', '0', '--log-level', 'info', 'app.js'],
    packages: ['fastify-cli', '@fastify/autoload', '@fastify/sensible', 'fastify-plugin'],
    requests: [{ path: '/' }, { path: '/example' }, { path: '/exampel', status: 404 }],
  },
  {
    name: 'TypeScript through tsx, kysely on pg',
    folder: 'typescript',
    start: ['--import', 'tsx', 'server.ts'],
    packages: ['tsx', 'kysely', 'pg'],
    needs: 'PostgreSQL',
    requests: [
      { path: '/types', queries: 1 },
      { path: '/types/bool', queries: 2 },
      { path: '/moves', method: 'POST', queries: 1 },
    ],
  },
  {
    name: 'drizzle on pg and on postgres.js',
    folder: 'drizzle',
    packages: ['drizzle-orm', 'pg', 'postgres'],
    needs: 'PostgreSQL',
    requests: [
      { path: '/types', queries: 1 },
      { path: '/now', queries: 1 },
      { path: '/postgres-js', queries: 2 },
    ],
  },
  {
    name: 'prisma on @prisma/adapter-pg',
    folder: 'prisma',
    generate: ['prisma/generate.js'],
    start: ['--import', 'tsx', 'server.ts'],
    packages: ['prisma', '@prisma/client', '@prisma/adapter-pg', 'tsx'],
    needs: 'PostgreSQL',
    requests: [
      { path: '/types', queries: 1 },
      { path: '/both', queries: 2 },
    ],
  },
  {
    name: 'GraphQL with mercurius, pg',
    folder: 'graphql',
    packages: ['mercurius', 'graphql', 'pg'],
    needs: 'PostgreSQL',
    requests: [
      { path: '/graphql', method: 'POST', json: { query: '{ museums { id paintings } }' }, queries: 4 },
      { path: '/graphql', method: 'POST', json: { query: '{ nothing }' }, status: 400 },
    ],
  },
  {
    name: 'WebSocket, server-sent events, streams',
    folder: 'streaming',
    packages: ['@fastify/websocket', 'ws'],
    requests: [{ path: '/echo', isWebSocket: true, status: 101 }, { path: '/events' }, { path: '/lines' }],
  },
  {
    name: 'Multipart uploads',
    folder: 'uploads',
    packages: ['@fastify/multipart'],
    requests: [
      {
        path: '/pictures',
        method: 'POST',
        files: { 'small.jpg': 10, 'large.jpg': 1_000_000 },
      },
      { path: '/pictures', method: 'POST', json: {}, status: 406 },
    ],
  },
  {
    name: 'knex and Sequelize on mysql2, mysql2 itself',
    folder: 'knex',
    packages: ['knex@3', 'sequelize@6', 'mysql2@3'],
    needs: 'MariaDB',
    requests: [
      { path: '/tables', queries: 1 },
      { path: '/engines', queries: 1 },
      { path: '/both', queries: 1 },
      // Sequelize asks for the version in a connection of its own, and both connections set their zone.
      { path: '/sequelize', queries: 4, lost: 1 },
      { path: '/models', method: 'POST', queries: 5 },
    ],
  },
  {
    name: 'Objection on knex and pg',
    folder: 'objection',
    packages: ['objection@3', 'knex@3', 'pg'],
    needs: 'PostgreSQL',
    requests: [
      { path: '/museums', queries: 1 },
      { path: '/moves', method: 'POST', queries: 5 },
    ],
  },
  {
    name: 'node-redis, ioredis, BullMQ',
    folder: 'redis',
    packages: ['redis@6', 'ioredis@6', 'bullmq@6'],
    needs: 'Redis',
    requests: [
      { path: '/visits', queries: 1 },
      { path: '/guests', queries: 2 },
      { path: '/jobs', method: 'POST', queries: 3 },
    ],
  },
  {
    name: 'fetch, undici, node:http and got',
    folder: 'http',
    packages: ['undici@7', 'got@14'],
    requests: [
      ...['fetch', 'undici', 'http'].map(client => ({ path: `/clients/${client}`, queries: 1 })),
      { path: '/clients/got', queries: 1, lost: 1 },
    ],
  },
  {
    name: 'A pnpm workspace, pg in one of its packages',
    folder: 'monorepo/packages/api',
    packages: [],
    installer: 'pnpm',
    needs: 'PostgreSQL',
    requests: [
      { path: '/shops/louvre', queries: 1 },
      { path: '/shops', status: 404 },
    ],
  },
  ...(['PostgreSQL', 'MariaDB'] as const).map(service => ({
    name: `TypeORM, compiled by tsc, on ${service}`,
    folder: 'commonjs/typeorm',
    generate: compile,
    start: ['server.js', service],
    packages: [],
    installer: 'npm' as const,
    needs: service,
    requests: [
      { path: '/museums', queries: 2 },
      { path: '/moves', method: 'POST', queries: 4 },
    ],
  })),
  {
    name: 'NestJS 11, compiled by tsc, with nestjs-pino',
    folder: 'commonjs/nest',
    generate: compile,
    packages: [],
    installer: 'npm',
    requests: [
      { path: '/orders/7', span: 'OrdersController.find', logs: 'Order 7' },
      { path: '/orders/12', status: 404, throws: ['No order 12'] },
      { path: '/orders/13', status: 500, throws: ['Order 13 is broken', 'no price'], logs: 'Order 13' },
    ],
  },
  {
    name: 'NestJS 12',
    folder: 'nest',
    packages: ['@nestjs/common@12', '@nestjs/core@12', '@nestjs/platform-fastify@12', 'reflect-metadata', 'rxjs'],
    requests: [
      { path: '/orders/7', span: 'OrdersController.find', logs: 'Order 7' },
      { path: '/orders/13', status: 500, throws: ['Order 13 is broken', 'no price'], logs: 'Order 13 is broken' },
      { path: '/order', status: 404 },
    ],
  },
  {
    name: 'NestJS 12 with a filter of its own',
    folder: 'nest',
    start: ['server.js', '--filter'],
    packages: ['@nestjs/common@12', '@nestjs/core@12', '@nestjs/platform-fastify@12', 'reflect-metadata', 'rxjs'],
    requests: [
      { path: '/orders/13', accept: 'text/html', status: 503, throws: ['Order 13 is broken', 'no price'] },
      { path: '/orders/14', accept: 'text/html', status: 503, throws: ['Order 14 is closed'] },
    ],
  },
  {
    name: 'tRPC, mercurius, Yoga and Apollo that fail',
    folder: 'resolvers',
    packages: ['@trpc/server', 'mercurius', 'graphql@16', 'graphql-yoga', '@apollo/server', '@as-integrations/fastify'],
    requests: [
      { path: '/trpc/order', status: 500, throws: ['The order is broken', 'The order is broken', 'no price'] },
      ...['mercurius', 'yoga', 'apollo'].map(path => ({
        path: `/${path}?query=%7Border%7D`,
        throws: ['The order is broken', 'no price'],
      })),
    ],
  },
  {
    name: 'logger: false, two instances',
    folder: 'silent',
    packages: [],
    requests: [{ path: '/tickets' }, { path: '/broken', status: 500 }, { path: '/%zz', status: 400 }],
  },
]
