// Walks through the pages of Supabase Studio at STUDIO_URL and does what an administrator does there. It fails if a page
// does not load, if Studio's server answers 5xx, or if a step has another result. Screenshots go to SHOTS.
import assert from "node:assert/strict"
import { chromium } from "playwright"

const { STUDIO_URL: studio, API_URL: api, ANON_KEY: anonKey, CHROMIUM_PATH: executablePath, SHOTS: shots } = process.env
const platform = "/api/platform"

// Each page, and a text that it shows when the steps before have been done.
const pages = {
  home: ["/project/default"],
  "table-editor": ["/project/default/editor", "teas"],
  "sql-editor": ["/project/default/sql/new"],
  tables: ["/project/default/database/tables", "teas"],
  policies: ["/project/default/auth/policies", "all read"],
  users: ["/project/default/auth/users", "user@example.org"],
  buckets: ["/project/default/storage/files", "pictures"],
  functions: ["/project/default/functions", "hello"],
  realtime: ["/project/default/realtime/inspector"],
  "logs-explorer": ["/project/default/logs/explorer"],
  "edge-logs": ["/project/default/logs/edge-logs?s=teas", "/rest/v1/teas"],
  "postgres-logs": ["/project/default/logs/postgres-logs"],
  advisors: ["/project/default/advisors/security"],
  "api-docs": ["/project/default/integrations/data_api/docs"],
  cron: ["/project/default/integrations/cron/overview"],
  queues: ["/project/default/integrations/queues/overview"],
  vault: ["/project/default/integrations/vault/overview"],
  webhooks: ["/project/default/integrations/webhooks/overview"],
  graphiql: ["/project/default/integrations/graphiql/graphiql"],
  publications: ["/project/default/database/publications", "supabase_realtime"],
  replication: ["/project/default/database/replication"],
  roles: ["/project/default/database/roles", "service_role"],
  extensions: ["/project/default/database/extensions", "pgcrypto"],
  triggers: ["/project/default/database/triggers"],
  indexes: ["/project/default/database/indexes"],
  migrations: ["/project/default/database/migrations"],
  "storage-policies": ["/project/default/storage/files/policies"],
  "storage-settings": ["/project/default/storage/files/settings"],
  "auth-providers": ["/project/default/auth/providers"],
  "realtime-settings": ["/project/default/realtime/settings"],
  "project-settings": ["/project/default/settings/general"],
  "log-drains": ["/project/default/settings/log-drains"],
}

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] })
const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage()
const problems = []
page.on("pageerror", (e) => problems.push(`${page.url()}: ${e.message}`))
page.on("response", (r) => {
  if (r.url().startsWith(studio) && r.status() >= 500) problems.push(`${r.request().method()} ${r.url()}: ${r.status()}`)
})

// The first page starts Studio. The waiting page loads itself again until it is there.
await page.goto(studio)
await page.waitForFunction(() => !document.title.includes("is starting"), undefined, { timeout: 180_000 })
problems.length = 0

// call sends a request of Studio's pages and returns the reply.
async function call(method, path, data) {
  const r = await page.request.fetch(studio + path, { method, data })
  return { status: r.status(), body: await r.json().catch(() => null) }
}
const query = (sql) => call("POST", `${platform}/pg-meta/default/query`, { query: sql })

const patient = { timeout: 60_000 }

// eventually repeats a check until it succeeds, for ten seconds.
async function eventually(check) {
  for (const end = Date.now() + 10_000; ; await page.waitForTimeout(200)) {
    try {
      return await check()
    } catch (e) {
      if (Date.now() > end) throw e
    }
  }
}

async function step(name, run) {
  try {
    await run()
    console.log("ok  ", name)
  } catch (e) {
    problems.push(`${name}: ${e.message}`)
  }
}

await step("create a table with a policy", async () => {
  const made = await query(`create table public.teas (id bigint generated always as identity primary key, name text);
    alter table public.teas enable row level security; create policy "all read" on public.teas for select using (true);
    grant select on public.teas to anon; insert into public.teas (name) values ('shaah') returning name`)
  assert.equal(made.status, 200)
  const tables = await call("GET", `${platform}/pg-meta/default/tables?included_schemas=public&include_columns=true`)
  assert.ok(tables.body.some((t) => t.name === "teas" && t.columns.length === 2))
  const policies = await call("GET", `${platform}/pg-meta/default/policies`)
  assert.ok(policies.body.some((p) => p.name === "all read"))
})
await step("edit a cell", async () => {
  const { body } = await query("select 'public.teas'::regclass::oid::int as id")
  await page.goto(`${studio}/project/default/editor/${body[0].id}?schema=public`)
  await page.getByRole("gridcell", { name: "shaah" }).dblclick(patient)
  await page.locator(".monaco-editor textarea, .monaco-editor .native-edit-context").first().waitFor({ ...patient, state: "attached" })
  await page.keyboard.press("ControlOrMeta+A")
  await page.keyboard.type("caleen")
  await page.keyboard.press("Enter")
  await page.getByRole("gridcell", { name: "caleen" }).waitFor(patient)
  await eventually(async () => assert.deepEqual((await query("select name from public.teas")).body, [{ name: "caleen" }]))
})
await step("a statement with an error", async () => {
  await page.goto(`${studio}/project/default/sql/new`)
  await page.locator(".monaco-editor .view-lines").first().click(patient)
  await page.keyboard.type("select * from nowhere")
  await page.keyboard.press("ControlOrMeta+Enter")
  await page.getByText('relation "nowhere" does not exist').first().waitFor(patient)
  await page.screenshot({ path: `${shots}/sql-error.png` })
})
await step("create a user", async () => {
  const made = await call("POST", `${platform}/auth/default/users`, {
    email: "user@example.org",
    password: "a long password",
    email_confirm: true,
  })
  assert.ok(made.status < 300, JSON.stringify(made))
  assert.match(JSON.stringify(made.body), /user@example\.org/)
})
await step("create a bucket", async () => {
  const made = await call("POST", `${platform}/storage/default/buckets`, { id: "pictures", type: "STANDARD", public: true })
  assert.ok(made.status < 300, JSON.stringify(made))
  assert.ok((await call("GET", `${platform}/storage/default/buckets`)).body.some((b) => b.id === "pictures"))
})
const temporaryKey = async () => (await call("POST", `${platform}/projects/default/api-keys/temporary`)).body.api_key
await step("upload a file", async () => {
  const key = await temporaryKey()
  const content = "a picture"
  const metadata = { bucketName: "pictures", objectName: "tea/cup.txt", contentType: "text/plain" }
  const headers = { apikey: key, authorization: `Bearer ${key}`, "tus-resumable": "1.0.0" }
  const made = await page.request.post(`${api}/storage/v1/upload/resumable`, {
    headers: {
      ...headers,
      "upload-length": String(content.length),
      "upload-metadata": Object.entries(metadata).map(([name, value]) => `${name} ${btoa(value)}`).join(","),
    },
  })
  assert.equal(made.status(), 201, await made.text())
  const sent = await page.request.patch(made.headers().location, {
    headers: { ...headers, "upload-offset": "0", "content-type": "application/offset+octet-stream" },
    data: content,
  })
  assert.equal(sent.status(), 204, await sent.text())
  const listed = await call("POST", `${platform}/storage/default/buckets/pictures/objects/list`, { path: "tea" })
  assert.ok(JSON.stringify(listed.body).includes("cup.txt"), JSON.stringify(listed))
})
await step("the functions are listed", async () => {
  const listed = await call("GET", "/api/v1/projects/default/functions")
  assert.deepEqual(listed.body.map((f) => f.slug), ["hello"])
})
await step("a request is in the logs", async () => {
  const got = await page.request.get(`${api}/rest/v1/teas?select=name`, { headers: { apikey: anonKey } })
  assert.equal(got.status(), 200)
  const sql = `select request.path, response.status_code from edge_logs cross join unnest(metadata) as m
    cross join unnest(m.request) as request cross join unnest(m.response) as response where request.path = '/rest/v1/teas'`
  const logs = await call("GET", `${platform}/projects/default/analytics/endpoints/logs.all?sql=${encodeURIComponent(sql)}`)
  assert.deepEqual(logs.body.result, [{ path: "/rest/v1/teas", status_code: 200 }])
})
await step("the inspector of Realtime shows a message", async () => {
  const key = await temporaryKey()
  await page.goto(`${studio}/project/default/realtime/inspector`)
  await page.getByRole("button", { name: "Join a channel" }).first().click(patient)
  await page.getByPlaceholder("Enter a channel name").fill("kitchen")
  await page.getByRole("button", { name: "Listen to channel" }).click()
  await eventually(async () => {
    const sent = await page.request.post(`${api}/realtime/v1/api/broadcast`, {
      headers: { apikey: key },
      data: { messages: [{ topic: "kitchen", event: "ready", payload: { tea: "caleen" } }] },
    })
    assert.equal(sent.status(), 202, await sent.text())
    await page.getByText("caleen").first().waitFor({ timeout: 2000 })
  })
  await page.screenshot({ path: `${shots}/realtime-message.png` })
})
await step("the advisors find nothing in the stack's own schemas", async () => {
  const lints = await call("GET", `${platform}/projects/default/run-lints`)
  assert.equal(lints.status, 200)
  const own = lints.body.filter((l) => l.level !== "INFO" && l.metadata?.schema !== "public")
  assert.deepEqual(own.map((l) => l.detail), [])
})
await step("MCP with read_only=true", async () => {
  const r = await page.request.post(`${studio}/api/mcp?read_only=true&features=database`, {
    headers: { accept: "application/json, text/event-stream" },
    data: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "execute_sql", arguments: { query: "select 1 as one" } } },
  })
  assert.match(await r.text(), /one/)
})
for (const [name, [path, text]] of Object.entries(pages)) {
  await step(`page ${name}`, async () => {
    const r = await page.goto(studio + path, { waitUntil: "load", timeout: 60_000 })
    assert.ok(r.status() < 400, `status ${r.status()}`)
    await page.waitForTimeout(4000) // the page asks for its content
    if (text) await page.getByText(text).first().waitFor(patient)
    await page.screenshot({ path: `${shots}/${name}.png` })
    assert.doesNotMatch(await page.locator("body").innerText(), /Application error|This page could not be found/)
  })
}
await browser.close()
for (const p of problems) console.error("FAIL", p)
process.exitCode = problems.length > 0 ? 1 : 0
