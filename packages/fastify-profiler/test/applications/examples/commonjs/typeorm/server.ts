import 'reflect-metadata'
import Fastify from 'fastify'
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm'

@Entity()
class Museum {
  @PrimaryGeneratedColumn() id: number
  @Column() name: string
}

/** TypeORM, with a temporary table in the only connection. */
async function start(type: 'postgres' | 'mysql', url: string, id: string) {
  const app = Fastify()
  const db = await new DataSource({ type, url, entities: [Museum], poolSize: 1 }).initialize()
  const museums = db.getRepository(Museum)
  await db.query(`create temporary table museum (id ${id} primary key, name text)`)

  app.get('/museums', async () => {
    const [{ one }] = await db.query('select 1 as one') // query
    return { one, museums: await museums.find({ where: { name: 'Louvre' } }) } // query
  })
  app.post('/moves', async () => {
    return await db.transaction(async manager => {
      const { id } = await manager.save(Museum, { name: 'Louvre' }) // query
      await manager.update(Museum, { id }, { name: 'Uffizi' }) // query
      const museum = await manager.findOneBy(Museum, { id }) // query
      await manager.delete(Museum, { id }) // query
      return museum
    })
  })
  console.log(await app.listen({ port: Number(process.env.PORT) }))
}

const { POSTGRES_URL = '', MYSQL_URL = '' } = process.env
if (process.argv.includes('PostgreSQL')) void start('postgres', POSTGRES_URL, 'serial')
else void start('mysql', new URL('/mysql', MYSQL_URL).href, 'int auto_increment')
