// Measures what live viewers cost the server: memory and CPU time with many WebSockets on one
// run, some of which stop reading. Requires `make build`. Usage: node tools/viewers.mjs [VIEWERS] [STALLED]
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isAccepted, openWebSocket } from "./websocket.mjs";

const ROOT = join(import.meta.dirname, "..");
const [viewers = 1000, stalled = 50] = process.argv.slice(2).map(Number);
const PORT = 7191;
const CLOCK_TICKS = 100;

const home = mkdtempSync(join(ROOT, "target/viewers-"));
const program = join(ROOT, "target/release/leadline");
const server = spawn(
	program,
	["serve", "--data-dir", home, "--listen", `127.0.0.1:${PORT}`],
	{ stdio: ["ignore", "pipe", "ignore"] },
);
let output = "";
server.stdout.on("data", (text) => {
	output += text;
});
while (!output.includes("Targets")) await sleep(50);
const token = readFileSync(join(home, "token"), "utf8").trim();
const headers = {
	authorization: `Bearer ${token}`,
	"content-type": "application/json",
};
const call = (path, body) =>
	fetch(`http://127.0.0.1:${PORT}/api/v1${path}`, {
		headers,
		method: body ? "POST" : "GET",
		body: body && JSON.stringify(body),
	});

const mib = () =>
	Number(
		/VmRSS:\s+(\d+)/.exec(
			readFileSync(`/proc/${server.pid}/status`, "utf8"),
		)[1],
	) / 1024;
function cpuSeconds() {
	const fields = readFileSync(`/proc/${server.pid}/stat`, "utf8")
		.split(") ")[1]
		.split(" ");
	return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS;
}
async function cores(seconds) {
	const [cpu, began] = [cpuSeconds(), performance.now()];
	await sleep(seconds * 1000);
	return (cpuSeconds() - cpu) / ((performance.now() - began) / 1000);
}

const job = {
	filename: "t1",
	size: "64m",
	rw: "randread",
	direct: 1,
	rate_iops: 1000,
	runtime: 60,
	time_based: 1,
};
const { number } = await (await call("/runs", { jobs: [job] })).json();
await sleep(2000);
const [memory, alone] = [mib(), await cores(5)];

const open = (reads) =>
	openWebSocket({ port: PORT, token, path: `/runs/${number}/stream`, reads });

const responses = await Promise.all(
	Array.from({ length: viewers + stalled }, (_, index) =>
		open(index < viewers),
	),
);
const rejected = responses.filter((response) => !isAccepted(response));
const watched = await cores(12);
const metrics = await (await call("/metrics")).text();
console.log(
	`${viewers} viewers and ${stalled} stalled ones: ${rejected.length} rejected`,
);
console.log(
	`streams open 12 s later: ${/leadline_open_streams (\d+)/.exec(metrics)[1]}`,
);
console.log(
	`memory ${memory.toFixed(1)} -> ${mib().toFixed(1)} MiB, CPU ${alone.toFixed(3)} -> ${watched.toFixed(3)} cores`,
);
server.kill();
await sleep(500);
rmSync(home, { recursive: true, force: true });
process.exit(0);
