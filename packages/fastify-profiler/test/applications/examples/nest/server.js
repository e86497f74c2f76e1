import 'reflect-metadata'
import { Controller, Get, Logger, Module, Param, UseGuards } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter } from '@nestjs/platform-fastify'

const guard = {
  async canActivate(context) {
    await null
    if (context.switchToHttp().getRequest().params.id === '14') throw new Error('Order 14 is closed') // thrown
    return true
  },
}
const filter = {
  catch(error, host) {
    const frames = error.stack.split('\n').filter(line => !line.includes('/fastify-profiler/dist/'))
    const reply = host.switchToHttp().getResponse()
    reply
      .code(503)
      .type('text/html')
      .send(`<h1>${error.message}</h1><pre>${frames.join('\n')}</pre>`)
  },
}

class OrdersController {
  logger = new Logger('Orders')

  async find(id) {
    this.logger.log(`Order ${id}`)
    if (id !== '13') return { id }
    try {
      throw new TypeError('no price') // thrown
    } catch (cause) {
      throw new Error('Order 13 is broken', { cause }) // thrown
    }
  }
}

const find = Object.getOwnPropertyDescriptor(OrdersController.prototype, 'find')
Param('id')(OrdersController.prototype, 'find', 0)
Get(':id')(OrdersController.prototype, 'find', find)
UseGuards(guard)(OrdersController.prototype, 'find', find)
Controller('orders')(OrdersController)

class AppModule {}
Module({ controllers: [OrdersController] })(AppModule)

/** Nest without a compiler: decorators are called as functions. */
const app = await NestFactory.create(AppModule, new FastifyAdapter())
if (process.argv.includes('--filter')) app.useGlobalFilters(filter)
await app.listen(Number(process.env.PORT), '127.0.0.1')
console.log(await app.getUrl())
