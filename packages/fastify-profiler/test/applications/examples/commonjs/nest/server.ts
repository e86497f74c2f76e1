import 'reflect-metadata'
import { Controller, Get, Logger, Module, NotFoundException, Param } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import { Logger as PinoLogger, LoggerModule } from 'nestjs-pino'

@Controller('orders')
class OrdersController {
  private readonly logger = new Logger('Orders')

  @Get(':id')
  async find(@Param('id') id: string) {
    this.logger.log(`Order ${id}`)
    if (id === '12') throw new NotFoundException('No order 12') // thrown
    if (id !== '13') return { id }
    try {
      throw new TypeError('no price') // thrown
    } catch (cause) {
      throw new Error('Order 13 is broken', { cause }) // thrown
    }
  }
}

@Module({ imports: [LoggerModule.forRoot()], controllers: [OrdersController] })
class AppModule {}

/** Nest as its own command compiles it, with the lines of its Logger through nestjs-pino. */
async function start() {
  const app = await NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter(), { bufferLogs: true })
  app.useLogger(app.get(PinoLogger))
  await app.listen(Number(process.env.PORT), '127.0.0.1')
  console.log(await app.getUrl())
}

void start()
