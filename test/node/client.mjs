// A client in another language, made from the proto files alone: it creates,
// reads, lists, updates and watches tasks at the address given, looks at errors
// the way a program should, and prints what it saw as JSON.
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import grpc from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';
import protobuf from 'protobufjs';

const [, , address, expiredCursor] = process.argv;
if (!address || !expiredCursor) {
  console.error('usage: node client.mjs HOST:PORT EXPIRED-CURSOR');
  process.exit(2);
}

const protos = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../proto');
const definition = protoLoader.loadSync(
  ['taskpool/v1/task_service.proto', 'taskpool/v1/pool_service.proto'],
  { includeDirs: [protos], keepCase: true, longs: String, enums: String, defaults: true, oneofs: true },
);
const { taskpool } = grpc.loadPackageDefinition(definition);
const credentials = grpc.credentials.createInsecure();
const tasks = new taskpool.v1.TaskService(address, credentials);
const pools = new taskpool.v1.PoolService(address, credentials);

const metadata = new grpc.Metadata();
metadata.set('taskpool-actor', 'agent:node');

// call makes a unary call.
function call(client, method, request) {
  const deadline = new Date(Date.now() + 20_000);
  return new Promise((resolve, reject) => {
    client[method](request, metadata, { deadline }, (error, answer) => (error ? reject(error) : resolve(answer)));
  });
}

// What an error carries beside its code: google.rpc.Status, in a trailer.
const rpc = protobuf.parse(`
  syntax = "proto3";
  message Any { string type_url = 1; bytes value = 2; }
  message Status { int32 code = 1; string message = 2; repeated Any details = 3; }
  message ErrorInfo { string reason = 1; string domain = 2; map<string, string> metadata = 3; }
  message FieldViolation { string field = 1; string description = 2; }
  message BadRequest { repeated FieldViolation field_violations = 1; }
`, { keepCase: true }).root;

function details(error) {
  const [bytes] = error.metadata.get('grpc-status-details-bin');
  const found = { code: grpc.status[error.code], message: error.details };
  for (const any of rpc.lookupType('Status').decode(bytes).details) {
    const name = any.type_url.split('/').pop();
    if (name === 'google.rpc.ErrorInfo') {
      const { reason, domain, metadata } = rpc.lookupType('ErrorInfo').decode(any.value);
      Object.assign(found, { reason, domain, metadata });
    } else if (name === 'google.rpc.BadRequest') {
      const violations = rpc.lookupType('BadRequest').decode(any.value).field_violations;
      found.fields = violations.map((violation) => violation.field);
    }
  }
  return found;
}

// refusal is the error of a call that has to fail.
async function refusal(client, method, request) {
  try {
    await call(client, method, request);
  } catch (error) {
    return details(error);
  }
  throw new Error(`${method} was not refused`);
}

// watch opens a watch. next waits for the next message, and throws the error that
// the stream ends with: it always ends with one.
function watch(request) {
  const stream = tasks.WatchTasks(request, metadata);
  const messages = stream[Symbol.asyncIterator]();
  return {
    async next() {
      const { done, value } = await messages.next();
      if (done) throw new Error('the watch ended as if it were finished');
      return value;
    },
    leave() {
      stream.on('error', () => {}); // CANCELLED, which we asked for
      stream.cancel();
    },
  };
}

// watchAll watches from a snapshot, and on from where it left.
async function watchAll() {
  const seen = { order: [], snapshot: [], live: [], resumed: [] };
  const first = watch({ snapshot: {} });
  for (let kind; kind !== 'snapshot_end';) {
    const message = await first.next();
    kind = message.message;
    seen.order.push(`${kind}${message.cursor ? ' +cursor' : ''}`);
    if (kind === 'snapshot') seen.snapshot.push(...message.snapshot.tasks.map((task) => task.key));
  }
  const change = ({ kind, task, events }) => `${kind} ${task.title} ${task.status} ${events.map((event) => event.kind)}`;
  await call(tasks, 'CreateTask', { task: { title: 'live' } });
  const live = await first.next();
  seen.live = live.changes.changes.map(change);
  first.leave();
  await call(tasks, 'CreateTask', { task: { title: 'missed' } });
  const second = watch({ after_cursor: live.cursor });
  const opened = await second.next();
  seen.resumed.push(`${opened.message} ${opened.cursor === live.cursor ? 'where it left' : 'elsewhere'}`);
  seen.resumed.push(...(await second.next()).changes.changes.map(change));
  second.leave();
  return seen;
}

// watchRefused is the error of a watch that has to fail.
async function watchRefused(request) {
  const refused = watch(request);
  try {
    await refused.next();
  } catch (error) {
    return details(error);
  }
  throw new Error('the watch was not refused');
}

const title = 'Von Node: 日本語 👩‍👩‍👧';
const created = await call(tasks, 'CreateTask', {
  request_id: 'node-1',
  task: { title, steps: ['one', 'two'], priority: 'TASK_PRIORITY_HIGH', labels: { from: 'node' } },
});
const again = await call(tasks, 'CreateTask', {
  request_id: 'node-1',
  task: { title, steps: ['one', 'two'], priority: 'TASK_PRIORITY_HIGH', labels: { from: 'node' } },
});
const batch = await call(tasks, 'CreateTasks', {
  request_id: 'node-2',
  tasks: [
    { ref: 'second', title: 'second', dependency_ids: ['ref:first'] },
    { ref: 'first', title: 'first', dependency_ids: [created.task.key] },
  ],
});
const read = await call(tasks, 'ReadTask', { id: batch.tasks[1].id });
const listed = [];
for (let page_token = ''; ;) {
  const page = await call(tasks, 'ReadTask', { filter: {}, page_size: 2, page_token, at_least_cursor: batch.cursor });
  listed.push(...page.tasks.map((task) => `${task.key} ${task.status}`));
  page_token = page.next_page_token;
  if (!page_token) break;
}
const held = await call(tasks, 'UpdateTask', { request_id: 'node-3', id: created.task.id, status: 'TASK_STATUS_IN_PROGRESS' });
const done = await call(tasks, 'UpdateTask', {
  request_id: 'node-4',
  id: created.task.id,
  status: 'TASK_STATUS_DONE',
  hold_token: held.hold_token,
  steps: { values: [] },
  history_entry: 'done from Node',
});
const ready = await call(tasks, 'ReadTask', { id: batch.tasks[1].key });
const pool = await call(pools, 'GetPool', {});
const invalid = await refusal(tasks, 'CreateTask', { task: { title: ' ', links: ['javascript:alert(1)'] } });
const missing = await refusal(tasks, 'ReadTask', { id: 'T-999' });
const cycle = await refusal(tasks, 'UpdateTask', { id: batch.tasks[1].id, add_dependency_ids: [batch.tasks[0].id] });
const watched = await watchAll();
const expired = await watchRefused({ after_cursor: expiredCursor });
const head = watch({ after_cursor: expired.metadata.head });
const fromHead = (await head.next()).message;
head.leave();
const text = await watchRefused({ filter: { text: 'x' } });

console.log(JSON.stringify({
  created: { key: created.task.key, title: created.task.title, created_by: created.task.created_by, status: created.task.status },
  replayed: again.replayed && again.task.id === created.task.id,
  batch: batch.tasks.map((task) => task.key),
  read: { status: read.task.status, waits_for: read.task.unfinished_dependency_ids.length, dependents: read.task.dependent_ids.length },
  listed,
  held: { holder: held.task.holder, token: held.hold_token !== '' },
  done: { status: done.task.status, steps: done.task.steps.length, history: done.task.history_count },
  ready: ready.task.status,
  total: pool.pool.counts.total,
  invalid,
  missing,
  watched,
  expired,
  from_head: fromHead,
  text,
  cycle: { code: cycle.code, reason: cycle.reason, path: cycle.metadata.path.split(',').length },
}, null, 2));

tasks.close();
pools.close();
