import { features } from '../core/feature.ts'
import { levelTone } from '../core/view/elements.ts'
import { callsFact } from './home/profile-header.ts'
import { agentCommands } from './agents/agent-commands.ts'
import { mcpRoutes } from './agents/mcp-routes.ts'
import { keepBoot } from './boot/boot-log.ts'
import { bootQuestion, bootRoutes } from './boot/boot-page.ts'
import { browserLines, browserRoutes, withEvents } from './browser/browser-events.ts'
import { compareAction, compareQuestion, compareRoutes } from './compare/compare-routes.ts'
import { configurationPanel, routesQuestion } from './configuration.ts'
import { collectExceptions } from './exceptions/describe-failures.ts'
import { exceptionFacts, exceptionPanel, exceptionRoutes } from './exceptions/exception-panel.ts'
import { summariseExceptions } from './exceptions/exceptions.ts'
import { explainFailure } from './exceptions/error-page.ts'
import { readSources } from './exceptions/source-excerpt.ts'
import { knowApplication, watchUncaught } from './exceptions/uncaught.ts'
import { explainButton, explainQuestion, explainRoutes } from './explain/explain-page.ts'
import { ownConnections } from './explain/explain-query.ts'
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
import { collectLogs, markEarlierLogger, watchLoggers } from './logs/log-recorder.ts'
import { clearLogs, logFacts, logsPanel } from './logs/logs-panel.ts'
import { adviseOnCalls } from './performance/advice.ts'
import { watchNest } from './nest.ts'
import { performancePanel, waitingFact } from './performance/performance-panel.ts'
import { summarisePerformance } from './performance/troubles.ts'
import { databasePanel } from './queries/database-panel.ts'
import { installDrivers, watchLibraries } from './queries/drivers/install-drivers.ts'
import { collectQueries, learnFromQueries, summariseQueries } from './queries/recorded-queries.ts'
import { rememberApplication, repeat } from './replay/replay.ts'
import { replayAction, replayQuestion, replayRoutes } from './replay/replay-routes.ts'
import { requestPanel } from './request/request-panel.ts'
import { routingPanel } from './routing/routing-panel.ts'
import { collectRouting } from './routing/similar-routes.ts'
import { cpuPanel, sampleQuestion, samplesRoutes } from './samples/cpu-panel.ts'
import { collectSamples, readLines } from './samples/describe-samples.ts'
import { sampleIfAsked } from './samples/sampling.ts'
import { permitCachedToolbar, toolbarScript } from './toolbar/toolbar-place.ts'
import { addToolbar } from './toolbar/toolbar.ts'
import { watchTrpc } from './exceptions/caught-elsewhere.ts'

// What features add to the type of a profile.
export type * from './samples/samples.ts'

// In the order of the menu and of the header. The application's own panels come before the last.
features.push(
  // Before the logs, which say what is not recorded of them.
  { name: 'nest', start: watchNest },
  { name: 'trpc', start: watchTrpc },
  {
    name: 'home',
    style: 'features/home/home.css',
    script: 'features/home/home.js',
    routes: homeRoutes,
    questions: [overviewQuestion, searchQuestion, profileQuestion],
  },
  { name: 'live', routes: eventRoutes, start: sendRows },
  { name: 'request', panel: requestPanel },
  {
    name: 'performance',
    panel: performancePanel,
    style: 'features/performance/performance.css',
    start: adviseOnCalls,
    summarise: summarisePerformance,
  },
  {
    name: 'samples',
    panel: cpuPanel,
    style: 'features/samples/samples.css',
    routes: samplesRoutes,
    entered: request => sampleIfAsked(request),
    collect: collectSamples,
    readSources: readLines,
    questions: [sampleQuestion],
  },
  {
    name: 'exceptions',
    panel: exceptionPanel,
    style: 'features/exceptions/exceptions.css',
    routes: exceptionRoutes,
    facts: exceptionFacts,
    subscribe: watchUncaught,
    start: knowApplication,
    failures: collectExceptions,
    summarise: summariseExceptions,
    readSources,
    answer: { body: explainFailure },
  },
  {
    name: 'logs',
    panel: logsPanel,
    style: 'features/logs/logs.css',
    facts: logFacts,
    start: watchLoggers,
    entered: markEarlierLogger,
    collect: collectLogs,
    collectLate: collectLogs,
    readSources: clearLogs,
    summarise: ({ logs }) => ({ logErrors: logs.filter(({ level }) => levelTone(level) === 'error').length }),
  },
  {
    name: 'queries',
    panel: databasePanel,
    style: 'features/queries/queries.css',
    facts: profile => [...callsFact('Queries', profile.database), ...waitingFact(profile)],
    subscribe: installDrivers,
    start: watchLibraries,
    learn: learnFromQueries,
    collect: collectQueries,
    collectLate: collectQueries,
    summarise: summariseQueries,
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
  { name: 'routing', panel: routingPanel, style: 'features/routing/routing.css', collect: collectRouting },
  { name: 'lifecycle', panel: lifecyclePanel, style: 'features/lifecycle/lifecycle.css' },
  {
    name: 'compare',
    style: 'features/compare/compare.css',
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
  {
    name: 'replay',
    routes: replayRoutes,
    action: replayAction,
    start: rememberApplication,
    repeat,
    questions: [replayQuestion],
  },
  { name: 'export', style: 'features/export/export.css', routes: exportRoutes, action: exportAction },
  {
    name: 'boot',
    routes: bootRoutes,
    start: keepBoot,
    questions: [bootQuestion],
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
  {
    name: 'toolbar',
    answer: { head: permitCachedToolbar, body: addToolbar },
    assets: { 'toolbar.js': toolbarScript },
  },
  { name: 'agents', routes: mcpRoutes, commands: agentCommands },
  { name: 'configuration', panel: configurationPanel, questions: [routesQuestion] },
)
