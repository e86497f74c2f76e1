/** An application that the profiler watches, with the requests that it is sent. */
export interface Application {
  name: string
  /** Below examples/, or below the folder that `generate` makes. */
  folder: string
  /** The arguments for Node that start it, besides the flag. It prints its origin. */
  start: readonly string[]
  /** The arguments for Node that run its own tests. */
  test: readonly string[]
  /** The packages that it needs. Those of a workspace are in its package.json. */
  packages: readonly string[]
  /** The server that it connects to. */
  needs?: Service
  /** Makes the folder, where the application is not one of ours. */
  generate?: readonly string[]
  /** Has packages of its own, which pnpm installs. */
  isWorkspace?: boolean
  requests: readonly Request[]
}

export interface Request {
  path: string
  method?: string
  json?: unknown
  /** Files of a multipart form, by name. */
  files?: Readonly<Record<string, number>>
  isWebSocket?: boolean
  status: number
  /** The number of queries. Each is on a line that ends with "// query". */
  queries: number
}

export type Service = 'PostgreSQL' | 'MariaDB' | 'Redis'

export const applications: readonly Application[] = [
  {
    name: 'CommonJS with callbacks, @fastify/postgres',
    folder: 'callbacks',
    start: ['server.js'],
    test: ['--test', 'app.test.js'],
    packages: ['@fastify/postgres', 'pg'],
    needs: 'PostgreSQL',
    requests: [
      { path: '/museums', status: 200, queries: 1 },
      { path: '/museums/7', status: 200, queries: 2 },
      { path: '/museums/x', status: 500, queries: 1 },
      { path: '/nowhere', status: 404, queries: 0 },
    ],
  },
  {
    name: 'fastify-cli with autoload, generated',
    folder: 'generated',
    generate: ['node_modules/fastify-cli/cli.js', 'generate', 'generated', '--integrate=false'],
    start: ['../node_modules/fastify-cli/cli.js', 'start', '--port', '0', '--log-level', 'info', 'app.js'],
    test: ['--test', 'test/plugins/support.test.js', 'test/routes/example.test.js', 'test/routes/root.test.js'],
    packages: ['fastify-cli', '@fastify/autoload', '@fastify/sensible', 'fastify-plugin'],
    requests: [
      { path: '/', status: 200, queries: 0 },
      { path: '/example', status: 200, queries: 0 },
      { path: '/exampel', status: 404, queries: 0 },
    ],
  },
  {
    name: 'TypeScript through tsx, kysely on pg',
    folder: 'typescript',
    start: ['--import', 'tsx', 'server.ts'],
    test: ['--import', 'tsx', '--test', 'app.test.ts'],
    packages: ['tsx', 'kysely', 'pg'],
    needs: 'PostgreSQL',
    requests: [
      { path: '/types', status: 200, queries: 1 },
      { path: '/types/bool', status: 200, queries: 2 },
      { path: '/moves', method: 'POST', status: 200, queries: 1 },
    ],
  },
  {
    name: 'drizzle on pg',
    folder: 'drizzle',
    start: ['server.js'],
    test: ['--test', 'app.test.js'],
    packages: ['drizzle-orm', 'pg'],
    needs: 'PostgreSQL',
    requests: [
      { path: '/types', status: 200, queries: 1 },
      { path: '/now', status: 200, queries: 1 },
    ],
  },
  {
    name: 'prisma on @prisma/adapter-pg',
    folder: 'prisma',
    generate: ['prisma/generate.js'],
    start: ['--import', 'tsx', 'server.ts'],
    test: ['--import', 'tsx', '--test', 'app.test.ts'],
    packages: ['prisma', '@prisma/client', '@prisma/adapter-pg', 'tsx'],
    needs: 'PostgreSQL',
    requests: [
      { path: '/types', status: 200, queries: 1 },
      { path: '/both', status: 200, queries: 2 },
    ],
  },
  {
    name: 'GraphQL with mercurius, pg',
    folder: 'graphql',
    start: ['server.js'],
    test: ['--test', 'app.test.js'],
    packages: ['mercurius', 'graphql', 'pg'],
    needs: 'PostgreSQL',
    requests: [
      { path: '/graphql', method: 'POST', json: { query: '{ museums { id paintings } }' }, status: 200, queries: 4 },
      { path: '/graphql', method: 'POST', json: { query: '{ nothing }' }, status: 400, queries: 0 },
    ],
  },
  {
    name: 'WebSocket, server-sent events, streams',
    folder: 'streaming',
    start: ['server.js'],
    test: ['--test', 'app.test.js'],
    packages: ['@fastify/websocket', 'ws'],
    requests: [
      { path: '/echo', isWebSocket: true, status: 101, queries: 0 },
      { path: '/events', status: 200, queries: 0 },
      { path: '/lines', status: 200, queries: 0 },
    ],
  },
  {
    name: 'Multipart uploads',
    folder: 'uploads',
    start: ['server.js'],
    test: ['--test', 'app.test.js'],
    packages: ['@fastify/multipart'],
    requests: [
      {
        path: '/pictures',
        method: 'POST',
        files: { 'small.jpg': 10, 'large.jpg': 1_000_000 },
        status: 200,
        queries: 0,
      },
      { path: '/pictures', method: 'POST', json: {}, status: 406, queries: 0 },
    ],
  },
  {
    name: 'knex on mysql2, mysql2 by itself',
    folder: 'knex',
    start: ['server.js'],
    test: ['--test', 'app.test.js'],
    packages: ['knex', 'mysql2'],
    needs: 'MariaDB',
    requests: [
      { path: '/tables', status: 200, queries: 1 },
      { path: '/engines', status: 200, queries: 1 },
      { path: '/both', status: 200, queries: 1 },
    ],
  },
  {
    name: 'node-redis and ioredis',
    folder: 'redis',
    start: ['server.js'],
    test: ['--test', 'app.test.js'],
    packages: ['redis', 'ioredis'],
    needs: 'Redis',
    requests: [
      { path: '/visits', status: 200, queries: 1 },
      { path: '/guests', status: 200, queries: 2 },
    ],
  },
  {
    name: 'A pnpm workspace, pg in one of its packages',
    folder: 'monorepo/packages/api',
    start: ['server.js'],
    test: ['--test', 'app.test.js'],
    packages: [],
    isWorkspace: true,
    needs: 'PostgreSQL',
    requests: [
      { path: '/shops/louvre', status: 200, queries: 1 },
      { path: '/shops', status: 404, queries: 0 },
    ],
  },
  {
    name: 'logger: false, two instances',
    folder: 'silent',
    start: ['server.js'],
    test: ['--test', 'app.test.js'],
    packages: [],
    requests: [
      { path: '/tickets', status: 200, queries: 0 },
      { path: '/broken', status: 500, queries: 0 },
      { path: '/%zz', status: 400, queries: 0 },
    ],
  },
]
