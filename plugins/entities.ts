import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { createEntities, type Entities } from '../src/entities/entities.ts'
import { Store } from '../src/cache/store.ts'

declare module 'fastify' {
  interface FastifyInstance {
    store: Store
    entities: Entities
  }
}

/** Adds app.store, which is notified of every change in the database, and app.entities, which it caches. */
async function entities(app: FastifyInstance) {
  const { db, changes } = app.database
  const store = new Store()
  const change = (table: string, key: string | null) => store.change(table, key)
  const listen = () => store.listen()
  const deafen = () => store.deafen()

  changes.on('change', change).on('listening', listen).on('deaf', deafen)
  app.addHook('onClose', async function stopHearing() {
    changes.off('change', change).off('listening', listen).off('deaf', deafen)
  })

  app.decorate('store', store)
  app.decorate('entities', createEntities(db, store))
}

export default fp(entities, { name: 'entities', dependencies: ['database'], fastify: '5.x' })
