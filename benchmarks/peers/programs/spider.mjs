// spider-rs by its Node.js package: a website at a time is what it knows, so many of them at once.
// Without subdomains: of names under `test` and `invalid` it takes every one for a part of the other.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const WEBSITES = 50;
const [folder, seeds, what] = process.argv.slice(2);
const { Website } = createRequire(`${folder}/`)("@spider-rs/spider-rs");
const waiting = readFileSync(seeds, "utf8").split("\n").filter(Boolean);
let characters = 0;

function read(error, page) {
  if (!error) characters += page.content.length;
}

async function work() {
  while (waiting.length > 0) {
    const website = new Website(waiting.pop()).withRespectRobotsTxt(true).withDelay(0).build();
    // Without a function for pages it follows links, and nobody gets to see a page.
    await (what === "pages" ? website.crawl(read) : website.crawl());
  }
}

await Promise.all(Array.from({ length: WEBSITES }, work));
console.log(characters);
// What passes pages on would keep the process waiting for more.
process.exit(0);
