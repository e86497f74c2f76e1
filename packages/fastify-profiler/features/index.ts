import { features } from '../core/feature.ts'
import { callsFact } from '../core/view/profile-header.ts'
import { agentCommands } from './agents/agent-commands.ts'
import { mcpRoutes } from './agents/mcp-routes.ts'
import { keepBoot } from './boot/boot-log.ts'
import { bootRoutes } from './boot/boot-page.ts'
import { browserLines, browserRoutes, withEvents } from './browser/browser-events.ts'
import { compareAction, compareQuestion, compareRoutes } from './compare/compare-routes.ts'
import { configurationPanel, routesQuestion } from './configuration.ts'
import { collectExceptions } from './exceptions/describe-failures.ts'
import { renderErrorPage } from './exceptions/error-page.ts'
import { exceptionPanel, exceptionRoutes } from './exceptions/exception-panel.ts'
import { renderErrorMarkdown } from './exceptions/exceptions-markdown.ts'
import { knowApplication, watchUncaught } from './exceptions/uncaught.ts'
import { explainButton, explainQuestion, explainRoutes } from './explain/explain-page.ts'
import { ownConnections } from './explain/own-connection.ts'
import { exportAction, exportRoutes } from './export/export-routes.ts'
import { profileQuestion } from './home/ask-profile.ts'
import { sendRows } from './home/live-rows.ts'
import { homeRoutes } from './home/home-routes.ts'
import { overviewQuestion, searchQuestion } from './home/questions.ts'
import { eventRoutes } from './home/search-page.ts'
import { collectHttpCalls, learnFromHttpCalls } from './http-client/http-calls.ts'
import { httpClientPanel } from './http-client/http-client-panel.ts'
import { watchHttpCalls } from './http-client/undici.ts'
import { lifecyclePanel } from './lifecycle/lifecycle-panel.ts'
import { collectLogs, markEarlierLogger } from './logs/log-recorder.ts'
import { logFacts, logsPanel } from './logs/logs-panel.ts'
import { adviseOnCalls } from './performance/findings.ts'
import { performancePanel, waitingFact } from './performance/performance-panel.ts'
import { databasePanel } from './queries/database-panel.ts'
import { collectQueries, learnFromQueries } from './queries/recorded-queries.ts'
import { rememberApplication } from './replay/replay.ts'
import { replayAction, replayRoutes } from './replay/replay-routes.ts'
import { requestPanel } from './request/request-panel.ts'
import { routingPanel } from './routing/routing-panel.ts'
import { collectRouting } from './routing/similar-routes.ts'
import { cpuPanel, samplesRoutes } from './samples/cpu-panel.ts'
import { collectSamples } from './samples/describe-samples.ts'
import { sampleIfAsked } from './samples/sampling.ts'

// In the order of the menu and of the header. The application's own panels come before the last.
features.push(
  { name: 'home', routes: homeRoutes, questions: [overviewQuestion, searchQuestion, profileQuestion] },
  { name: 'live', routes: eventRoutes, start: sendRows },
  { name: 'request', panel: requestPanel },
  { name: 'performance', panel: performancePanel, start: adviseOnCalls },
  {
    name: 'samples',
    panel: cpuPanel,
    routes: samplesRoutes,
    entered: request => sampleIfAsked(request),
    collect: collectSamples,
  },
  {
    name: 'exceptions',
    panel: exceptionPanel,
    routes: exceptionRoutes,
    start: knowApplication,
    subscribe: watchUncaught,
    collectLate: collectExceptions,
    failures: { collect: collectExceptions, page: renderErrorPage, markdown: renderErrorMarkdown },
  },
  {
    name: 'logs',
    panel: logsPanel,
    facts: logFacts,
    entered: markEarlierLogger,
    collect: collectLogs,
    collectLate: collectLogs,
  },
  {
    name: 'queries',
    panel: databasePanel,
    facts: profile => [...callsFact('SQL', profile.database), ...waitingFact(profile)],
    learn: learnFromQueries,
    collect: collectQueries,
    collectLate: collectQueries,
  },
  {
    name: 'http-client',
    panel: httpClientPanel,
    facts: ({ http }) => callsFact('HTTP', http),
    subscribe: watchHttpCalls,
    learn: learnFromHttpCalls,
    collect: collectHttpCalls,
    collectLate: collectHttpCalls,
  },
  { name: 'routing', panel: routingPanel, collect: collectRouting },
  { name: 'lifecycle', panel: lifecyclePanel },
  {
    name: 'compare',
    routes: compareRoutes,
    action: compareAction,
    pair: { label: 'Compare', path: 'compare' },
    questions: [compareQuestion],
  },
  {
    name: 'explain',
    explainPool: ownConnections,
    routes: explainRoutes,
    forQuery: explainButton,
    questions: [explainQuestion],
  },
  { name: 'replay', routes: replayRoutes, action: replayAction, start: rememberApplication },
  { name: 'export', routes: exportRoutes, action: exportAction },
  {
    name: 'boot',
    routes: bootRoutes,
    start: keepBoot,
    link: { label: 'Boot', path: 'boot' },
    forPlugins: base => [
      { link: 'How the application started', to: `${base}/boot` },
      ', with what each plugin waited for',
    ],
  },
  {
    name: 'browser',
    routes: browserRoutes,
    complete: withEvents,
    lines: { heading: 'In the browser', note: 'ms since it asked for the page', of: browserLines },
    reports: 'browser',
  },
  { name: 'agents', routes: mcpRoutes, commands: agentCommands },
  { name: 'configuration', panel: configurationPanel, questions: [routesQuestion] },
)
