import Fastify from 'fastify'
import { close, itemsOf } from 'shop'

export function build() {
  const app = Fastify()
  app.get('/shops/:shop', async request => itemsOf(request.params.shop))
  app.addHook('onClose', close)
  return app
}
