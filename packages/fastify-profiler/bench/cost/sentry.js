// What Sentry's documentation asks for, with tracing and logs.
import * as Sentry from '@sentry/node'

Sentry.init({
  dsn: process.env.SINK.replace('://', '://key@') + '/1',
  tracesSampleRate: 1,
  enableLogs: true,
  integrations: [Sentry.pinoIntegration()],
})
