import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { createEntities, type Entities, type MakeOwnEntities } from '../src/entities.ts'
import { EntityCache } from '../src/cache/entity-cache.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Is notified of every change in the database. */
    entityCache: EntityCache
    entities: Entities
  }
}

/** Adds app.entities with the cache through which they are read, and those that an application adds. */
async function entities(app: FastifyInstance, { makeOwn = () => ({}) }: { makeOwn?: MakeOwnEntities | undefined }) {
  const { db, changes } = app.database
  const cache = new EntityCache()
  const change = (table: string, key: string | null) => cache.change(table, key)
  const listen = () => cache.listen()
  const deafen = () => cache.deafen()

  changes.on('change', change).on('listening', listen).on('deaf', deafen)
  app.addHook('onClose', async function stopListening() {
    changes.off('change', change).off('listening', listen).off('deaf', deafen)
  })

  app.decorate('entityCache', cache)
  app.decorate('entities', { ...createEntities(db, cache), ...makeOwn(db, cache) })
}

export default fp(entities, { name: 'entities', dependencies: ['database'], fastify: '5.x' })
