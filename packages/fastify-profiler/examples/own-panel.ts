// An application with a panel of its own, in TypeScript: it shows the language that each client asks for.
// Start it with `node own-panel.ts` (Node 22.18 or newer), ask for a page, then open its profile.
import Fastify from 'fastify'
import profiler, { profiledOptions, type Panel } from 'fastify-profiler'

interface Language {
  accepted: string
}

const languagePanel: Panel<Language> = {
  name: 'language',
  label: 'Language',
  collect: ({ request }) => {
    const accepted = request?.headers['accept-language']
    return accepted === undefined ? null : { accepted }
  },
  badge: ({ accepted }) => ({ text: accepted, tone: 'neutral' }),
  view: ({ accepted }) => [{ text: ['The client asked for ', { code: accepted }, '.'] }],
}

const app = Fastify(profiledOptions({ logger: true }))
await app.register(profiler, { panels: [languagePanel] })

app.get('/', async function greet(request) {
  request.log.debug('The profile has this line, the output has not.')
  return { hello: 'world' }
})

await app.listen({ port: Number(process.env['PORT'] ?? 3000) })
