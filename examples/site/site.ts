import * as portico from 'portico'
import { exhibitions, migrations } from './exhibitions.ts'

const settings = portico.Type.Object({
  TICKET_SHOP: portico.Type.Optional(portico.url('Where tickets are sold.')),
})

declare module 'portico' {
  interface Settings extends portico.Static<typeof settings> {}
}

const translations = { de: { title: 'Ausstellungen', none: 'Es gibt noch keine.', seats: 'Plätze' } }
const english = { title: 'Exhibitions', none: 'There are none yet.', seats: 'seats' }

export const site: portico.Additions = {
  migrations,
  settings,
  records: [exhibitions],
  checks: [
    async function closedToRobots(app) {
      app.checks.set('robots', 'No robots')
      app.addHook('onRequest', (request, _reply, done) => {
        const isRobot = /bot/i.test(request.headers['user-agent'] ?? '')
        if (!isRobot) return done(portico.passed(request, 'robots', 'The visitor does not say that it is a robot.'))
        done(portico.refused(request, 'robots', new portico.ForbiddenHttpError('No robots, please.')))
      })
    },
  ],
  panels: [
    {
      name: 'tickets',
      label: 'Tickets',
      collect: ({ request }) => ({ shop: request?.server.settings.TICKET_SHOP ?? 'none' }),
      view: data => [{ text: `The ticket shop is ${JSON.stringify(data)}.` }],
    },
  ],
  commands: [
    portico.command({
      usage: 'exhibition count',
      summary: 'Counts the exhibitions.',
      options: {},
      async run(terminal) {
        const { records } = await portico.withDatabase(terminal, ({ db }) => portico.listRecords(db, exhibitions))
        portico.writeOutcome(terminal, `${records.length} exhibitions`, { count: records.length }, false)
      },
    }),
  ],
  async routes(app) {
    await app.register(portico.routes)
    app.get('/exhibitions', async (request, reply) => {
      const words = portico.wordsFor(request.locale, translations, english)
      const { records } = await portico.listRecords(app.database.db, exhibitions, { sort: 'opens_at' })
      const items = records.map(({ title, seats, opens_at: opens }) => {
        const day = new Date(opens).toLocaleDateString(request.locale, { dateStyle: 'long', timeZone: 'UTC' })
        return portico.html`<li><b>${title}</b> ${day}, ${seats} ${words.seats}</li>`
      })
      const main = portico.html`<ul class="records">${items.length > 0 ? items : words.none}</ul>
        ${app.settings.TICKET_SHOP && portico.html`<a href="${app.settings.TICKET_SHOP}">Tickets</a>`}`
      const style = '.records b { display: block; color: #a40 }'
      return await portico.sendSitePage(request, reply, { title: words.title, main, style, data: records })
    })
  },
}
