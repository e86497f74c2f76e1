declare module 'parse-prometheus-text-format' {
  interface Sample {
    labels?: Record<string, string>
    value: string
  }

  interface Family {
    name: string
    help: string
    type: string
    metrics: Sample[]
  }

  export default function parsePrometheusTextFormat(text: string): Family[]
}
