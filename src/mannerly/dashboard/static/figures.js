"use strict";
// Figures in words, and elements. What comes from the web is only ever set as text, never as markup.

const byId = (id) => document.getElementById(id);

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") made.className = value;
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children) made.append(child instanceof Node ? child : document.createTextNode(String(child)));
  return made;
}

function link(url) {
  // Only what is surely a web address becomes a link.
  if (!/^https?:\/\//i.test(url)) return element("span", { class: "url" }, url);
  return element("a", { class: "url", href: url, rel: "noopener noreferrer nofollow", target: "_blank" }, url);
}

const whole = new Intl.NumberFormat("en");
const count = (n) => whole.format(Math.round(n));

function rate(n) {
  if (n >= 100) return count(n);
  return n >= 10 ? n.toFixed(1) : n.toFixed(n >= 0.1 || n === 0 ? 1 : 2);
}

function short(n) {
  for (const [unit, scale] of [["G", 1e9], ["M", 1e6], ["k", 1e4 / 10]]) {
    if (n >= (unit === "k" ? 1e4 : scale)) return `${(n / scale).toFixed(n / scale >= 100 ? 0 : 1)} ${unit}`;
  }
  return n >= 100 || Number.isInteger(n) ? count(n) : n.toFixed(n >= 10 ? 1 : 2);
}

function size(n) {
  for (const [unit, scale] of [["TB", 1e12], ["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) {
    if (n >= scale) return `${(n / scale).toFixed(n / scale >= 100 ? 0 : 1)} ${unit}`;
  }
  return `${Math.round(n)} B`;
}

function seconds(s) {
  if (s === 0) return "0 s";
  if (s < 1) return `${Math.round(s * 1000)} ms`;
  return `${s.toFixed(s >= 10 ? 0 : 1)} s`;
}

function span(s) {
  const total = Math.round(s);
  const [days, hours, minutes] = [Math.floor(total / 86400), Math.floor(total / 3600) % 24, Math.floor(total / 60) % 60];
  if (days) return `${days} d ${hours} h`;
  if (hours) return `${hours} h ${minutes} min`;
  return minutes ? `${minutes} min ${total % 60} s` : `${total} s`;
}

const time = (at) => new Date(at * 1000).toLocaleTimeString("en-GB");
const words = (name) => name.replaceAll("_", " ");
