// The clients of the documents at one server. One file, so that its modules are loaded once.
import './proofs/agent-orchestration-api.js';
import './proofs/agent-orchestration-data.js';
import './proofs/agent-orchestration-rules.js';
import './proofs/keys.js';
import './proofs/workers.js';
import './proofs/runs.js';
