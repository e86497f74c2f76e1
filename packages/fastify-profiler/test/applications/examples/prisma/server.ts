import { PrismaPg } from '@prisma/adapter-pg'
import Fastify from 'fastify'
import { PrismaClient } from './generated/client.ts'

/** TypeScript with prisma, whose queries run when they are awaited. */
const app = Fastify()
const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.POSTGRES_URL }) })

app.get('/types', async () => {
  return await prisma.type.findMany({ take: 2 }) // query
})
app.get('/both', async () => {
  const [count] = await prisma.$queryRaw<Array<{ one: number }>>`select 1 as one` // query
  const bool = await prisma.type.findFirst({ where: { name: 'bool' } }) // query
  return { count, bool }
})

console.log(await app.listen({ port: Number(process.env.PORT) }))
