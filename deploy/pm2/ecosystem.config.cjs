// Worker services under PM2: pm2 start deploy/pm2/ecosystem.config.cjs
// DROVER_SLOTS names the slots, separated by commas. DROVER_HOME is the folder of their data.
const { existsSync } = require('node:fs');
const { homedir } = require('node:os');
const { join, resolve } = require('node:path');

/** The clone or the package @drover/server. npm replaces the folder of a package. */
const root = resolve(__dirname, '../..');
const top = existsSync(join(root, 'scripts/start.mjs')) ? root : homedir();
const home = resolve(process.env.DROVER_HOME || join(top, '.drover'));
const slots = (process.env.DROVER_SLOTS || 'slot-1,slot-2').split(',');

module.exports = {
  apps: slots.map((slot) => ({
    name: `worker-${slot}`,
    script: 'dist/apps/worker/main.js',
    cwd: root,
    node_args: [`--env-file=${process.env.DROVER_WORKER_ENV || 'deploy/worker.env'}`],
    exec_mode: 'fork',
    instances: 1,
    autorestart: true,
    max_restarts: 10,
    min_uptime: '10s',
    restart_delay: 5_000,
    // The worker alone gets the signal, and ends the processes of its runs.
    kill_timeout: 330_000,
    treekill: false,
    env: {
      NODE_ENV: 'production',
      DROVER_WORKER_NAME: slot,
      DROVER_HOME: home,
      DROVER_WORKER_DATA_DIR: join(home, slot),
      // The worker stays the same agent after a restart.
      DROVER_WORKER_DEREGISTER: 'false',
    },
  })),
};
