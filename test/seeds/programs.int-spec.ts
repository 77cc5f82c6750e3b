// The programs that the documents start, and the gateway that they call.
import './proofs/gateway.js';
import './proofs/commands.js';
