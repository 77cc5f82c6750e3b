import { realpathSync } from 'node:fs';
import { delimiter } from 'node:path';
import { SpawnError } from '../drivers/driver.js';
import { findExecutable } from '../process/find-executable.js';

/** The folders of the system's programs. */
export const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin';

/**
 * The first process of a sandbox, a program for Perl. It starts the session's command and reports
 * its end over a socket that the command does not have: the sandbox's own exit code cannot
 * distinguish 137 from SIGKILL. It ends, and with it the whole sandbox, when the other end of the
 * socket is closed.
 *
 * Perl gets it as a text, so that the sandbox needs no file of Drover. It uses no module: each one
 * costs memory in every session. The numbers are those of Linux on the processors in CALLS.
 */
const TEXT = String.raw`
my @IGNORED = qw(HUP INT QUIT PIPE TERM USR1 USR2);
my ($MAX_CONNECTIONS, $CHUNK, $BLIND_LOOK) = (64, 65536, 0.05);
my ($EINTR, $EAGAIN, $WNOHANG, $PIDFD_OPEN, $PR_SET_DUMPABLE) = (4, 11, 1, 434, 4);
my ($F_SETFD, $FD_CLOEXEC, $F_SETFL, $O_NONBLOCK) = (2, 1, 4, 2048);
my ($PF_UNIX, $PF_INET, $SOCK_STREAM, $SOL_SOCKET, $SO_REUSEADDR) = (1, 2, 1, 1, 2);
my ($IPPROTO_TCP, $TCP_NODELAY, $SHUT_WR, $BACKLOG) = (6, 1, 1, 511);
my %side;

# A request to end goes to the command.
$SIG{$_} = 'IGNORE' for @IGNORED;
open my $channel, '+<&=', 3 or exit 1;
fcntl $channel, $F_SETFD, $FD_CLOEXEC;
fcntl $channel, $F_SETFL, 0;

# The host can have inherited descriptors that it never wanted.
opendir my $own, '/proc/self/fd' or fail('its descriptors');
my @inherited = grep { /^\d+$/ && $_ > 3 } readdir $own;
closedir $own;
for (@inherited) { open my $file, '<&=', $_ or next; close $file }

my ($program, $cwd, $command, $env, $services, $setsid, $prctl) =
  unpack '(N/a*)*', take(unpack 'N', take(4));
my @command = unpack '(N/a*)*', $command;
my %env = unpack '(N/a*)*', $env;
my @services = unpack '(N/a*)*', $services;

# The session has the same user. From here on nobody can trace this process or read its memory and
# descriptors, nor those of its child before the command replaces it.
syscall($prctl, $PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 or fail('protection of the first process');

my @listeners;
while (my ($port, $path) = splice @services, 0, 2) {
  socket my $listener, $PF_INET, $SOCK_STREAM, 0 or fail('a socket');
  setsockopt $listener, $SOL_SOCKET, $SO_REUSEADDR, 1;
  bind $listener, pack 'S n C4 x8', $PF_INET, $port, 127, 0, 0, 1 or fail("port $port");
  listen $listener, $BACKLOG or fail("port $port");
  fcntl $listener, $F_SETFL, $O_NONBLOCK;
  push @listeners, { handle => $listener, to => pack('S a* x', $PF_UNIX, $path), open => 0 };
}

my ($pid, $failure) = start();
if ($failure ne '') { answer(qq({"failed":$failure})); exit 0 }
answer(qq({"started":$pid}));
# Nobody waits for a command that has ended already, so its number stays its own.
take(1);

# Kernels before 5.3 have no descriptor of a process.
my $end = syscall $PIDFD_OPEN, $pid + 0, 0;
# True if a connection waits for a free descriptor: listeners are left out of one look.
my $is_full = 0;
for (;;) {
  my ($reads, $writes) = ('', '');
  vec($reads, $_, 1) = 1 for 3, $pid && $end > 0 ? $end : (), map { fileno $$_{handle} } $is_full ? () : @listeners;
  for my $one (values %side) {
    vec($reads, $$one{fd}, 1) = 1 unless $$one{ended} || length $$one{other}{rest};
    vec($writes, $$one{fd}, 1) = 1 if length $$one{rest};
  }
  my $found = select $reads, $writes, undef, $is_full || $pid && $end < 0 ? $BLIND_LOOK : undef;
  $is_full = 0;
  next if $found < 0;
  if (vec $reads, 3, 1) { sysread($channel, my $ignored, $CHUNK) || exit 0 }
  conclude() if $pid && ($end < 0 || vec $reads, $end, 1);
  for my $one (my @all = values %side) {
    deliver($one, '') if !$$one{gone} && vec $writes, $$one{fd}, 1;
    carry($one) if !$$one{gone} && vec $reads, $$one{fd}, 1;
  }
  for (@listeners) { join_next($_) if vec $reads, fileno $$_{handle}, 1 }
}

sub start {
  pipe my $ready, my $report or return (0, $! + 0);
  my $child = fork;
  return (0, $! + 0) unless defined $child;
  if ($child == 0) {
    $SIG{$_} = 'DEFAULT' for @IGNORED;
    syscall $setsid + 0;
    my $why = '"cwd"';
    if (chdir $cwd) {
      %ENV = %env;
      exec { $program } @command or $why = $! + 0;
    }
    syswrite $report, $why;
    exit 0;
  }
  close $report;
  my $why = '';
  # The pipe closes when the command replaces the child.
  while (!defined sysread $ready, $why, $CHUNK) { last if $! != $EINTR }
  waitpid $child, 0 if $why ne '';
  return ($child, $why);
}

sub conclude {
  # While somebody traces a process that has ended, its descriptor is readable and its end is not.
  if (waitpid($pid, $WNOHANG) != $pid) { $end = -1; return }
  # It only stops, for a tracer.
  return if ($? & 255) == 127;
  my $signal = $? & 127;
  answer(sprintf '{"exited":{"exitCode":%s,"signal":%s}}', $signal ? 'null' : $? >> 8, $signal || 'null');
  $pid = 0;
}

# Joins a connection with a service of the host.
sub join_next {
  my ($service) = @_;
  if (!accept(my $near, $$service{handle})) { $is_full = 1 }
  elsif ($$service{open} < $MAX_CONNECTIONS && socket(my $far, $PF_UNIX, $SOCK_STREAM, 0)) {
    fcntl $_, $F_SETFL, $O_NONBLOCK for $near, $far;
    setsockopt $near, $IPPROTO_TCP, $TCP_NODELAY, 1;
    return unless connect $far, $$service{to};
    $$service{open}++;
    my ($one, $other) =
      map { { handle => $_, fd => fileno $_, service => $service, rest => '' } } $near, $far;
    ($$one{other}, $$other{other}) = ($other, $one);
    $side{$$_{fd}} = $_ for $one, $other;
  }
}

sub carry {
  my ($from) = @_;
  my $bytes = sysread($$from{handle}, my $chunk, $CHUNK);
  if (!defined $bytes) { return $! == $EAGAIN || $! == $EINTR ? () : drop($from) }
  $$from{ended} = 1 if $bytes == 0;
  deliver($$from{other}, $chunk);
}

# Writes what there is, and keeps the rest. While there is a rest, nothing more is read.
sub deliver {
  my ($to, $chunk) = @_;
  $chunk = $$to{rest} . $chunk;
  if (length $chunk) {
    my $sent = syswrite $$to{handle}, $chunk;
    if (!defined $sent) {
      return drop($to) if $! != $EAGAIN && $! != $EINTR;
      $sent = 0;
    }
    $$to{rest} = substr $chunk, $sent;
  }
  return if length $$to{rest} || !$$to{other}{ended};
  shutdown $$to{handle}, $SHUT_WR;
  drop($to) if $$to{ended};
}

sub drop {
  my ($one) = @_;
  $$one{service}{open}--;
  for my $each ($one, $$one{other}) {
    delete $side{$$each{fd}};
    $$each{gone} = 1;
    close $$each{handle};
  }
  delete $$one{other}{other};
  delete $$one{other};
}

sub take {
  my ($bytes) = @_;
  my $taken = '';
  while (length $taken < $bytes) {
    my $more = sysread $channel, $taken, $bytes - length $taken, length $taken;
    exit 0 unless $more || !defined $more && $! == $EINTR;
  }
  return $taken;
}

# If nobody listens any more, it ends: the host is gone.
sub answer { syswrite $channel, "$_[0]\n" or exit 0 }

sub fail { syswrite STDERR, "$_[0]: $!\n"; exit 1 }
`;

/** System calls by their numbers, because only a large module of Perl names them. */
export interface Calls {
  setsid: number;
  prctl: number;
}

const GENERIC: Calls = { setsid: 157, prctl: 167 };
const OLDER: Calls = { setsid: 66, prctl: 172 };
/** Their numbers by the processor, as Node names it. */
const CALLS: Partial<Record<NodeJS.Architecture, Calls>> = {
  arm: OLDER,
  arm64: GENERIC,
  ia32: OLDER,
  loong64: GENERIC,
  ppc64: { setsid: 66, prctl: 171 },
  riscv64: GENERIC,
  s390x: OLDER,
  x64: { setsid: 112, prctl: 157 },
};

/**
 * The command of a sandbox's first process. Its order comes over descriptor 3.
 *
 * @throws SpawnError if the machine has no Perl
 */
export function innerCommand(searchPath: string): string[] {
  const program = findExecutable('perl', `${SYSTEM_PATH}${delimiter}${searchPath}`);
  if (program === undefined) throw new SpawnError('infrastructure', '`perl` is not installed');
  // The site of the machine can add code to each start.
  // A sandbox can hide the folder of a link.
  return [realpathSync(program), '-f', '-e', TEXT];
}

/** @throws SpawnError for an unknown processor */
export function callsOf(processor: NodeJS.Architecture): Calls {
  const calls = CALLS[processor];
  if (calls === undefined) {
    const message = `Sandboxes do not know the processor ${processor}`;
    throw new SpawnError('infrastructure', message);
  }
  return calls;
}
