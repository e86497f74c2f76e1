// What the documentation of @fastify/otel asks for, with spans of HTTP, pg and pino that leave in batches.
import FastifyOtel from '@fastify/otel'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http'
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg'
import { PinoInstrumentation } from '@opentelemetry/instrumentation-pino'
import { NodeSDK, tracing } from '@opentelemetry/sdk-node'
import { register } from 'node:module'

register('@opentelemetry/instrumentation/hook.mjs', import.meta.url)
new NodeSDK({
  serviceName: 'museum',
  spanProcessors: [new tracing.BatchSpanProcessor(new OTLPTraceExporter({ url: `${process.env.SINK}/v1/traces` }))],
  instrumentations: [
    new HttpInstrumentation(),
    new PgInstrumentation(),
    new PinoInstrumentation(),
    new FastifyOtel({ registerOnInitialization: true }),
  ],
}).start()
