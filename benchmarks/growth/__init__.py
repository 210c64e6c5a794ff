"""What does a page cost as a crawl grows, and what does it take of memory and disk?"""
